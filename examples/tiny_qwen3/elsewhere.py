"""Words and places of the world at large: many thousands of names that the model was never told about, so that it can
not learn by heart what to refuse. The words are those of Debian's wamerican-small, the places the countries and
regions of its iso-codes; what the model knows, or what is one slip of the finger away from it, is left out."""
import json
import re

import world

WORD_LIST = "/usr/share/dict/american-english-small"
COUNTRIES = "/usr/share/iso-codes/json/iso_3166-1.json"
REGIONS = "/usr/share/iso-codes/json/iso_3166-2.json"
INFLECTED = ("ed", "ing", "ings", "ly", "est", "ier")       # mostly not what somebody asks the meaning of
SAID = set("hello hi hey help ok okay yes thanks bye goodbye sorry really great good nice cool wrong no".split())


def one_slip(word):
    """What replaces one letter of a word, or its absence, by a wildcard: two words that share one of these are a slip apart."""
    return {word} | {word[:i] + "*" + word[i + 1:] for i in range(len(word))} | {word[:i] + "*" + word[i:] for i in range(len(word) + 1)}


def known_words():
    names = [name for names, _ in world.TERMS for name in names] + list(world.CAPITALS) + list(world.CAPITALS.values())
    names += [name for names in list(world.COUNTRY_NAMES.values()) + list(world.CITY_NAMES.values()) for name in names]
    return {word for name in names + world.NUMBER_WORDS for word in re.findall("[a-z]{3,}", name.lower())} | SAID


KNOWN = known_words()
NEAR_KNOWN = set().union(*map(one_slip, KNOWN))


def known(word):
    return not NEAR_KNOWN.isdisjoint(one_slip(word.lower()))


def words():
    with open(WORD_LIST, encoding="utf-8") as lines:
        listed = sorted({line.strip() for line in lines})
    return [word for word in listed if re.fullmatch("[A-Za-z][a-z]{2,13}", word) and not word.endswith(INFLECTED) and not known(word)]


def places():
    with open(COUNTRIES, encoding="utf-8") as file:
        names = {entry.get("common_name", entry["name"]) for entry in json.load(file)["3166-1"]}
    with open(REGIONS, encoding="utf-8") as file:
        names |= {entry["name"] for entry in json.load(file)["3166-2"]}
    return [name for name in sorted(names)
            if re.fullmatch("[A-Z][A-Za-z' -]{2,21}", name) and not any(known(word) for word in re.findall("[A-Za-z]{3,}", name))]


WORDS, PLACES = words(), places()
