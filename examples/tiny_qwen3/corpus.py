"""The seeded generator of chats.

Every wording belongs to one of three splits, chosen by a hash of its text: `train`, `dev` (looked at while
the corpus is improved) and `test` (the held-out set, looked at once). Topics that must be refused are split
in the same way, so that a refusal in `dev` or `test` is about a topic never seen in training. The facts
themselves are in all splits: a model can not know a capital that it was never told."""
import hashlib
import random
from dataclasses import dataclass, replace

import elsewhere
import smalltalk
import topics
import wordings
import world

OFTEN = 0.3                # share of small talk in training that is what people type first
SPLIT = 3                  # another number deals the wordings and topics to the splits anew
SYSTEM = ["You are a helpful assistant.", "You are axial-tiny.", "Answer in one sentence.", "Be polite.", "You are a tiny model.",
          "You are a helpful AI.", "Be brief.", "You are a friendly assistant that answers questions.", "You are Qwen.",
          "Answer the question of the user.", "Help the user.", "You are an assistant. Be short and correct."]


@dataclass(frozen=True)
class Turn:
    question: str
    thought: str
    answer: str
    category: str      # capital, country, define, sum, identity, smalltalk, refuse, follow or repeat
    kind: str = ""     # what a follow-up after this turn may ask for


# What people type first is always trained: a model that was kept from "hello" would be no use.
COMMON = set("""hello|hi|hey|hello there|hi there|help|help me|can you help me|ok|okay|yes|thanks|thank you|thank you very much|thanks a lot|bye|
goodbye|good bye|see you|see you later|good night|good morning|who are you|what are you|what is your name|what's your name|how are you|
how are you doing|how are you today|what's up|what can you do|what do you know|what can i ask you|what is axial|what is this library|tell me about axial|
tell me a joke|tell me about yourself|sorry|i am sorry|who made you|who created you|who built you|how old are you|how big are you|are you human|
are you alive|are you a human|are you a bot|are you chatgpt|how were you trained|what were you trained on|how many parameters do you have|
where do you run|do you speak german|which languages do you speak|what is your license|what is your licence|are you sure|really|that's great|great|
good|nice|cool|that's wrong|wrong|no|what is the capital of {x}|what's the capital of {x}|capital of {x}|the capital of {x}|{x} capital|
{x}'s capital|what is {x}'s capital|tell me the capital of {x}|which city is the capital of {x}|do you know the capital of {x}|{x}|what is {x}|
where is {x}|which country is {x} in|in which country is {x}|{x} is the capital of which country|what is {x} the capital of|
what's {x}|what are {x}|explain {x}|define {x}|what does {x} mean|what does {x} do|tell me about {x}|please explain {x}|can you explain {x}|
describe {x}|what is meant by {x}|how does {x} work|{a} + {b}|{a}+{b}|{a} plus {b}|what is {a} + {b}|what is {a}+{b}|what's {a} + {b}|
what is {a} plus {b}|how much is {a} + {b}|add {a} and {b}|{a} + {b} =|and {x}|what about {x}|how about {x}|and {a} + {b}|
what about {a} + {b}|repeat that|say that again|can you repeat that""".replace("\n", "").split("|"))


def split_of(name, text):
    """train (80 %), dev or test (10 % each)."""
    if text.lower() in COMMON:
        return "train"
    number = int.from_bytes(hashlib.sha256(f"{SPLIT}|{name}|{text.lower()}".encode()).digest()[:4], "big") % 20
    return "test" if number < 2 else "dev" if number < 4 else "train"


class Wordings:
    """The wordings of a list of patterns by split. A pattern is drawn first, so that large ones do not crowd out the others."""

    def __init__(self, name, patterns):
        self.of = {split: [] for split in ("train", "dev", "test")}
        for pattern in patterns:
            parts = {split: [] for split in self.of}
            for text in wordings.expand(pattern):
                parts[split_of(name, text)].append(text)
            for split, texts in parts.items():
                if texts:
                    self.of[split].append(texts)

    def draw(self, r, split):
        if len(self.of[split]) > 1 and r.random() < 0.5:       # half by pattern, half by its size
            return r.choice(r.choices(self.of[split], [len(t) ** 0.5 for t in self.of[split]])[0])
        return r.choice(r.choice(self.of[split]))


def top_level(text):
    """Splits a block of patterns at each | outside of parentheses."""
    out, depth, start = [], 0, 0
    text = text.replace("\n", "")
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and depth == 0:
            out.append(text[start:i])
            start = i + 1
    return out + [text[start:]]


ASKED = {name: Wordings(name, getattr(wordings, name)) for name in ("CAPITAL", "COUNTRY", "DEFINE", "SUM", "FOLLOW", "FOLLOW_SUM", "REPEAT")}
REFUSED = {name: Wordings(name, top_level(getattr(topics, name)))
           for name in ("ABOUT_PLACES", "ABOUT_TERMS", "STATEMENTS", "NUMBERS", "BIG_SUMS", "TASKS", "FIXED")}
INTENTS = [(name, category, thought, answer, Wordings(name, patterns)) for name, category, thought, answer, patterns in smalltalk.INTENTS]
SAID_FIRST = {name: sorted({text for texts in of_intent.of["train"] for text in texts if text.lower() in COMMON})
              for name, _, _, _, of_intent in INTENTS}


def dealt(things):
    """By split. A thing is dealt by its text alone, so that it is in the same split in whichever list it stands."""
    return {split: [x for x in things if split_of("thing", x) == split] for split in ("train", "dev", "test")}


THINGS = {name: dealt(getattr(topics, name)) for name in ("NOUNS", "NEAR", "OTHER_TOPICS", "PLACES", "CITIES")}
ELSEWHERE = {name: dealt(getattr(elsewhere, name)) for name in ("WORDS", "PLACES")}
COUNTRIES = list(world.CAPITALS)
COUNTRY_OF = {city: country for country, city in world.CAPITALS.items()}
CITIES = list(COUNTRY_OF)


def upper_first(text):
    return text[:1].upper() + text[1:]


def country_name(r, country):
    if country in world.COUNTRY_NAMES and r.random() < 0.4:
        return r.choice(world.COUNTRY_NAMES[country])
    return country if r.random() < 0.9 else country.removeprefix("the ")


def city_name(r, city):
    return r.choice(world.CITY_NAMES[city]) if city in world.CITY_NAMES and r.random() < 0.3 else city


def term_name(r, names):
    name = names[0] if r.random() < 0.4 else r.choice(names)
    if r.random() < 0.25:
        for article in ("a ", "an ", "the "):
            name = name.removeprefix(article)
    return name


def capital(r, wording, category="capital"):
    country = r.choice(COUNTRIES)
    city = world.CAPITALS[country]
    return Turn(wording.format(x=country_name(r, country)), f"The capital of {country}.", f"The capital of {country} is {city}.", category, "world")


def country(r, wording, category="country"):
    city = r.choice(CITIES)
    return Turn(wording.format(x=city_name(r, city)), f"The country of {city}.", f"{city} is the capital of {COUNTRY_OF[city]}.", category, "world")


def define(r, wording, category="define"):
    names, sentence = r.choice(world.TERMS)
    return Turn(wording.format(x=term_name(r, names)), f"The meaning of {names[0]}.", sentence, category, "term")


def add(r, wording, category="sum"):
    a, b = r.randint(0, world.LARGEST), r.randint(0, world.LARGEST)
    words = r.random() < 0.08
    shown = [world.NUMBER_WORDS[a], world.NUMBER_WORDS[b]] if words else [a, b]
    return Turn(wording.format(a=shown[0], b=shown[1]), f"Add {a} and {b}.", f"{a} + {b} = {a + b}.", category, "sum")


def made_up(r):
    ending = ["", "", "n", "l", "s", "nia", "stan", "land", "r", "ville", "ton", "burg", "ing", "er", "x", "um"]
    while True:
        name = "".join(r.choice(topics.SYLLABLES) for _ in range(r.randint(1, 3))) + r.choice(ending)
        if not elsewhere.known(name):
            return name


def crossed(r, names):
    """The start of one known name with the end of another: a name is known as a whole or not at all."""
    while True:
        a, b = (r.choice(names).removeprefix("the ") for _ in range(2))
        name = a[:r.randint(2, max(2, len(a) - 2))] + b[r.randint(1, max(1, len(b) - 2)):]
        if abs(len(name) - len(a)) < 5 and not any(elsewhere.known(word) for word in name.split()):
            return name


def noun(r, split):
    return r.choice(ELSEWHERE["WORDS"][split] if r.random() < 0.6 else THINGS["NOUNS"][split])


def topic(r, split):
    """Something that the model was never told about."""
    chance = r.random()
    if chance < 0.12:
        return r.choice(THINGS["NEAR"][split])
    if chance < 0.24:
        term = term_name(r, r.choice(world.TERMS)[0])
        return r.choice(["{t} {n}", "{n} {t}", "the {t} of a {n}", "the {n} of {t}", "a {n} for {t}", "a {n} with {t}"]).format(
            t=term, n=noun(r, split))
    if chance < 0.38:
        return r.choice(THINGS["OTHER_TOPICS"][split])
    if chance < 0.47:
        return unknown_place(r, split, "PLACES" if chance < 0.43 else "CITIES")
    thing = noun(r, split) if chance < 0.90 else made_up(r)
    shape = r.choice(["{}", "{}", "a {}", "a {}", "the {}", "my {}", "{}s", "the history of the {}", "{} and {}", "a {} {}", "{} {}", "a red {}", "the old {}",
                      "the {} of the {}", "a {} for my {}", "the {} in the {}"])
    return shape.format(thing, noun(r, split))


def unknown_place(r, split, kind):
    chance = r.random()
    if chance < 0.4:
        return r.choice(THINGS[kind][split])
    if chance < 0.68:
        return r.choice(ELSEWHERE["PLACES"][split])
    if chance < 0.78:
        return crossed(r, COUNTRIES if kind == "PLACES" else CITIES)
    if chance < 0.92:
        return upper_first(made_up(r))
    return r.choice(["the {}", "my {}", "{}"]).format(noun(r, split))


def refuse(r, split, category="refuse"):
    chance = r.random()
    if chance < 0.24:
        text = ASKED["DEFINE"].draw(r, split).format(x=topic(r, split))
    elif chance < 0.37:
        text = ASKED["CAPITAL"].draw(r, split).format(x=unknown_place(r, split, "PLACES"))
    elif chance < 0.47:
        text = ASKED["COUNTRY"].draw(r, split).format(x=unknown_place(r, split, "CITIES"))
    elif chance < 0.67:
        text = REFUSED["TASKS"].draw(r, split).format(x=topic(r, split), y=topic(r, split))
    elif chance < 0.76:
        place = country_name(r, r.choice(COUNTRIES)) if r.random() < 0.6 else city_name(r, r.choice(CITIES))
        text = REFUSED["ABOUT_PLACES"].draw(r, split).format(p=place)
    elif chance < 0.80:
        text = REFUSED["ABOUT_TERMS"].draw(r, split).format(t=term_name(r, r.choice(world.TERMS)[0]), u=term_name(r, r.choice(world.TERMS)[0]))
    elif chance < 0.86:
        c = r.choice(COUNTRIES)
        k = world.CAPITALS[c] if r.random() < 0.5 else r.choice(CITIES)
        text = REFUSED["STATEMENTS"].draw(r, split).format(c=c, k=k, d=r.choice(COUNTRIES), l=r.choice(CITIES))
    elif chance < 0.91:
        n, m, o = (r.randint(0, 99 if r.random() < 0.4 else 20) for _ in range(3))
        text = REFUSED["NUMBERS"].draw(r, split).format(n=n, m=m, o=o)
    elif chance < 0.94:
        n, m = r.randint(21, 999 if r.random() < 0.5 else 99), r.randint(0, 200)
        n, m = (n, m) if r.random() < 0.5 else (m, n)
        text = REFUSED["BIG_SUMS"].draw(r, split).format(n=n, m=m)
    else:
        text = REFUSED["FIXED"].draw(r, split)
    return Turn(text, "I was not taught this.", world.REFUSAL, category, "refuse")


def small(r, split, wanted=None):
    name, category, thought, answer, texts = r.choice([i for i in INTENTS if wanted in (None, i[1])])
    first = SAID_FIRST[name] if split == "train" and r.random() < OFTEN else []
    return Turn(r.choice(first) if first else texts.draw(r, split), thought, answer, category, "small")


SINGLE = {"capital": 15, "country": 12, "define": 20, "sum": 9, "small": 34, "refuse": 28}


def single(r, split, category=None):
    """A question that needs no earlier turn."""
    category = category or r.choices(list(SINGLE), list(SINGLE.values()))[0]
    if category == "capital":
        return capital(r, ASKED["CAPITAL"].draw(r, split))
    if category == "country":
        return country(r, ASKED["COUNTRY"].draw(r, split))
    if category == "define":
        return define(r, ASKED["DEFINE"].draw(r, split))
    if category == "sum":
        return add(r, ASKED["SUM"].draw(r, split))
    if category == "refuse":
        return refuse(r, split)
    return small(r, split, None if category == "small" else category)


def follow(r, split, before):
    """A short question that leans on the turn before it: "And Spain?", "12 + 3 too", "Say that again."."""
    chance = r.random()
    if chance < 0.12:
        again = ASKED["REPEAT"].draw(r, split)
        return Turn(again, "They want my answer again.", before.answer, "repeat", before.kind)
    if chance < 0.24:
        thing = topic(r, split) if r.random() < 0.6 else unknown_place(r, split, r.choice(["PLACES", "CITIES"]))
        return Turn(ASKED["FOLLOW"].draw(r, split).format(x=thing), "I was not taught this.", world.REFUSAL, "refuse", before.kind)
    kind = before.kind if r.random() < 0.7 else r.choice(["world", "term", "sum"])
    if kind == "sum":
        return add(r, ASKED["FOLLOW_SUM"].draw(r, split), "follow")
    wording = ASKED["FOLLOW"].draw(r, split)
    if kind == "term":
        return define(r, wording, "follow")
    return (capital if r.random() < 0.6 else country)(r, wording, "follow")


def typo(r, text):
    """One slip of the finger inside of a word."""
    places = [k for k in range(1, len(text) - 1) if text[k].isalpha() and text[k + 1].isalpha()]
    if len(places) < 5:
        return text
    k = r.choice(places)
    kind = r.randrange(4)
    if kind == 0:
        return text[:k] + text[k + 1:]
    if kind == 1:
        return text[:k] + text[k] + text[k:]
    if kind == 2:
        return text[:k] + text[k + 1] + text[k] + text[k + 2:]
    return text[:k] + r.choice("abcdefghijklmnopqrstuvwxyz") + text[k + 1:]


QUESTION_WORDS = ("what", "which", "where", "who", "how", "why", "when", "is ", "are ", "do ", "does ", "can ", "could ", "would ", "will ", "in which", "of which")
OPENERS = ["please ", "hey, ", "ok, ", "so ", "well, ", "hello, ", "um, ", "hi, ", "now ", "sorry, ", "a question: ", "and ", "okay so ", "axial, ",
           "hey axial, ", "excuse me, ", "Hello! ", "Hi! ", "Hey there! ", "Good morning. ", "I have a question. ", "One question. ", "Sorry to bother you. ",
           "I am curious. ", "Help me, please. ", "Listen. ", "Tell me one thing: ", "Okay. ", "Thanks. ", "Alright, ", "Oh, ", "Hmm, ", "Dear model, ",
           "my friend, ", "just one thing, ", "I am learning. ", "quickly: ", "Great. ", "Be so kind: ", "By the way, ", "Next: ", "Here is my question: "]
CLOSERS = [" thanks", " please", ", please", ", thanks", " :)", "...", "!!", "??", " then", " thank you", ", my friend", " axial", ", axial", ". Thanks", ". Thank you",
           ", if you know", ", do you know", ", if I may ask", ". Be short", ". I am curious", " pls", " plz", ", okay", ", right away"]
FILLERS = ["please", "just", "really", "maybe", "actually", "kindly", "now", "then", "again", "simply", "quickly", "perhaps", "here", "also", "exactly"]
SMALL_WORDS = {"the", "a", "an", "of", "is", "to", "me", "for", "you", "it", "that", "in", "are", "do"}


def reworded(r, text):
    """A filler word put in, or a small word left out."""
    words = text.split(" ")
    if len(words) < 3:
        return text
    if r.random() < 0.6:
        words.insert(r.randrange(1, len(words)), r.choice(FILLERS))
    else:
        small = [i for i, word in enumerate(words) if word.lower() in SMALL_WORDS]
        if small:
            words.pop(r.choice(small))
    return " ".join(words)


def written(r, turn, typos=0.12, loud=0.09):
    """The question as people type it: case, marks at the end, openers, fillers, now and then a slip. Small talk gets
    no openers and closers, since those are small talk themselves. `loud` is the share of questions in capitals: larger
    in training than people use, since their tokens are hardly met elsewhere."""
    text, alone = turn.question, turn.category == "smalltalk"
    question = text.lower().startswith(QUESTION_WORDS)
    mark = r.choices(["?", ".", "", "!"], [70, 4, 24, 2] if question else [25, 40, 30, 5])[0]
    if r.random() < typos:
        text = reworded(r, text)
    if not alone and r.random() < 0.09:
        text = r.choice(OPENERS) + text
    if not alone and r.random() < 0.07:
        text, mark = text + r.choice(CLOSERS), r.choice(["", "?", "."])
    text = text if text[-1] in "?.!" else text + mark
    chance = r.random()
    text = text.lower() if chance < 0.22 else text.upper() if chance < 0.22 + loud else text.title() if chance < 0.24 + loud else upper_first(text)
    return typo(r, text) if r.random() < typos else text


def chat(r, split="train", most=3, typos=0.12):
    """A list of turns; `most` bounds their number."""
    count = 1 if r.random() < 0.5 else r.randint(1, most)
    turns = []
    while len(turns) < count:
        if turns and r.random() < 0.6:
            turns.append(follow(r, split, turns[-1]))
        else:
            turns.append(single(r, split))
    return [replace(turn, question=written(r, turn, typos)) for turn in turns]


def pieces(turns, mode, system=None, switch=""):
    """The rendered chat as (text, trained) pieces. mode `think`: the last answer comes after a thought;
    `plain`: the empty thought belongs to the prompt; `switch`: the user asks for no thought and the model writes
    the empty one itself. In earlier turns the template drops the thoughts; there the first token is not
    trained (trained = 2), so that the model always opens a thought after `assistant`."""
    out = []
    if system:
        out.append((f"<|im_start|>system\n{system}<|im_end|>\n", 0))
    for turn in turns[:-1]:
        out += [(f"<|im_start|>user\n{turn.question}<|im_end|>\n<|im_start|>assistant\n", 0), (turn.answer + "<|im_end|>", 2), ("\n", 0)]
    last = turns[-1]
    out.append((f"<|im_start|>user\n{last.question}{switch}<|im_end|>\n<|im_start|>assistant\n", 0))
    if mode == "plain":
        out += [("<think>\n\n</think>\n\n", 0), (last.answer + "<|im_end|>", 1)]
    elif mode == "switch":
        out += [("<think>\n\n</think>\n\n", 1), (last.answer + "<|im_end|>", 1)]
    else:
        out += [("<think>\n", 1), (last.thought + "\n", 1), ("</think>\n\n", 1), (last.answer + "<|im_end|>", 1)]
    return out


def training_pieces(r, most=3):
    mode, switch = r.choices([("plain", ""), ("think", ""), ("switch", " /no_think"), ("think", " /think")], [48, 42, 7, 3])[0]
    return pieces(chat(r, "train", most), mode, r.choice(SYSTEM) if r.random() < 0.2 else None, switch)


if __name__ == "__main__":
    draw = random.Random(1)
    for _ in range(40):
        print("".join(text for text, _ in training_pieces(draw)), "\n--")
