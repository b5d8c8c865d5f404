"""How questions are put: patterns in which (a|b|) stands for a choice and {x} for the thing asked about."""
import re

ASK = """(tell me|please tell me|can you tell me|could you tell me|would you tell me|can you please tell me|I want to know|
I would like to know|I'd like to know|I need to know|do you know|do you happen to know|let me know|I wonder|I am wondering|
may I ask|can I ask|say|just tell me|help me find out|I forgot|remind me|do you remember|tell us|I am trying to find out|
would you know|could you say|can you say|I'm curious|I am not sure|you surely know|I was asked|explain to me|I ask you|maybe you know|kindly tell me|any idea|inform me|answer me|teach me|I have no idea|I need to find out|are you able to tell me|is it possible to tell me|mind telling me|you can tell me)"""
GIVE = """(tell me|give me|name|please name|say|can you name|could you give me|I need|I am looking for|show me|can you say|
could you name|please give me|remind me of|I forgot|I can not remember|write down|state|do you know|I'd like|find|what about|
how about|can you find|I want|I would like to hear|could you state|can you remember|please find|look up|guess|tell us|
kindly give me|provide|I need to know|please tell me|could you tell me|I want to know|I would like|I'd love to know|
just give me|answer with|spell out|any idea of|what do you know about|please write|let me know)"""
WHAT = "(what is|what's|whats|which is|what would be|what is again|so what is|and what is|now what is|what was)"
END = "(||||for me|please|again|right now|in one line|if you can|exactly|by the way|today)"

_NOUN = """(the capital of {x}|{x}'s capital|the capital city of {x}|the capital of the country {x}|{x}'s capital city|
the name of the capital of {x}|the name of {x}'s capital|the capital that {x} has|{x}'s main city, the capital)"""
_CLAUSE = """(what the capital of {x} is|what {x}'s capital is|which city is the capital of {x}|what the capital city of {x} is|
what city is the capital of {x}|how the capital of {x} is called|the capital of {x}|{x}'s capital|which capital {x} has|
what the name of the capital of {x} is|which city is {x}'s capital)"""
CAPITAL = [f"{WHAT} {_NOUN} {END}", f"{ASK} {_CLAUSE}", f"{GIVE} {_NOUN} {END}", f"{ASK} {_CLAUSE} {END}",
    "what is the capital of {x}", "capital of {x}", "{x} capital", "capital {x}", "{x}", "{x} - capital", "what is {x} capital", "(capital|capital city) - {x}", "{x}, capital", "{x}'s capital",
    "the capital of {x} is", "the capital of {x} is (called|named|what|which city|which)", "{x}: capital",
    "(which|what) (city|town|place) (is|serves as|acts as|was made) (the capital of {x}|{x}'s capital|the capital city of {x})",
    "(which|what) capital (does {x} have|has {x} got|belongs to {x}|goes with {x}|has {x})",
    "{x}: (what is the|which|name the|its|what's its) (capital|capital city)",
    "(what|how) (do you|do we|do people|does one|would you) call (the capital of {x}|{x}'s capital|the capital city of {x})",
    "(if I go to|when I travel to|if I fly to|I am going to|I live in|if I visit|I was in|"
      "we move to) {x}, (what is the capital|what is its capital|which city is the capital)",
    "{x} has (which|what) (capital|city as its capital|capital city)",
    "(for|of|in) {x}, (what is|name|tell me|what's|give me) the capital (|city)",
    "(where|in which city|in what city) is the government of {x}",
    "(quick question|one question|small question|my question|next question|question): (what is the capital of {x}|"
      "the capital of {x}|{x}'s capital)",
    "my (teacher|friend|son|daughter|boss|brother|neighbour) (asks for|asked for|wants|wants to know|"
      "wants to hear) (the capital of {x}|{x}'s capital)",
    "(in a quiz|for school|for my homework|in a test|for a game), what is (the capital of {x}|{x}'s capital)",
    "(is there|do we have|do you have) a name for the capital of {x}", "which city do you reach if you go to the capital of {x}",
    "(tell me about|what do you know about|what can you say about|say something about|tell me something about) {x}",
    "(I love|I like|let us talk about|what about|how about|now) {x}", "what is {x}", "(the country|country) {x}"]

_WHERE = """(where {x} is|which country {x} is in|what country {x} is in|which country {x} belongs to|where {x} lies|
which country has {x} as its capital|of which country {x} is the capital|what {x} is the capital of|in which country {x} lies|
which country's capital is {x}|whose capital {x} is|in which country {x} is|where I can find {x}|where to find {x})"""
COUNTRY = [f"{ASK} {_WHERE}", f"{ASK} {_WHERE} {END}",
    "(which|what|which other|which one) (country|nation|land|state) (has {x} as its capital|is {x} the capital of|"
      "is {x} in|does {x} belong to|is home to {x}|has the capital {x}|contains {x}|has {x} as capital city)",
    "{x} is (the capital of|in|located in|found in|part of|a city in|the capital city of) (which|what) (country|nation|"
      "state|land)",
    "{x} is the capital of (what|which country|which|whom)", "{x}", "{x} country", "{x}, which country", "{x}: country",
    "(where is|where's|wheres|where can I find|where do I find|where in the world is|where would I find|"
      "where exactly is|where on the map is) {x} (|located|on the map|please)",
    "(of which|of what) (country|nation|land|state) is {x} the capital (|city)",
    "in (which|what) (country|nation|land|state|part of the world) (is {x}|lies {x}|can I find {x}|do I find {x}|"
      "is the city of {x}|does {x} lie)",
    "to (which|what) (country|nation|land) does (|the city of|the capital) {x} belong",
    f"{GIVE} the (country|nation) (whose capital is {{x}}|that has {{x}} as its capital|where {{x}} is|"
        f"with the capital {{x}}|{{x}} is in|of {{x}}|for {{x}})",
    "whose capital (is|is called|was) {x}", "{x}: (where is it|which country|what country|where is that)",
    "{x} (where is it|which country is that|what country is that|is where|is in which country)",
    "(the country of|the country for|country of) {x}", "what is {x} the capital of", "(what is|tell me) the country (of|for|around) {x}",
    "(I am|I live|I will be|we are|my friend is|I stay|he works) in {x}, (which|what) country is (that|it)",
    "(tell me about|what do you know about|what can you say about|say something about) (the city of|) {x}",
    "(the city|the capital|the town) {x} (is in which country|belongs to which country|is where|lies where)",
    "(I love|I like|let us talk about|what about|how about|now) {x}", "what is {x}", "(the city|city) {x}"]

_EXPLAIN = """(explain|define|describe|please explain|can you explain|could you explain|please define|can you define|
would you explain|can you describe|try to explain|help me understand|teach me|tell me about|tell me something about|
say something about|talk about|I want to learn about|I want to understand|I do not understand|I don't understand|I don't get|
what can you tell me about|what do you know about|what should I know about|I read about|I have a question about|
give me a definition of|give me a short definition of|I need a definition of|the meaning of|the definition of|
what is the meaning of|what is the definition of|what is the idea of|what is the point of|what is the purpose of|
introduce me to|clarify|summarise|sum up|do you know|have you heard of|are you familiar with|can you tell me about|
could you tell me about|let us talk about|I am learning about|please describe|can we talk about|what is the use of|
I am confused by|I have heard of|give a short explanation of|I would like to understand|write a sentence about)"""
_WITH = """(|||to me|in one sentence|in short|briefly|for a beginner|in simple words|in this library|in axial|quickly|
in your own words|please|shortly|a little|in plain English|like I am five|like I'm five|as to a child|if you can)"""
DEFINE = [f"{_EXPLAIN} {{x}} {_WITH}", f"{_EXPLAIN} {{x}}",
    "(what is|what's|whats|what are|what exactly is|what is meant by|what do you mean by|what does one mean by|"
      "what on earth is|what actually is|what do people call|so what is|now what is|but what is|and what is|"
      "what really is|what kind of thing is) {x} (|||here|in this library|in axial|really|again|exactly|in short|"
      "good for|used for)",
    "what does {x} (mean|stand for|do|describe|refer to|mean here|mean in this library|mean exactly|really mean)",
    "what does the (word|term|name|expression) {x} (mean|stand for|describe|refer to) (|here|in this library|in axial)",
    f"{ASK} (what {{x}} is|what {{x}} means|what {{x}} does|what is meant by {{x}}|about {{x}}|how {{x}} works|"
        f"the meaning of {{x}}|what {{x}} stands for|what you mean by {{x}}|what they call {{x}})",
    "how (does {x} work|do you define {x}|would you define {x}|would you explain {x}|is {x} defined|do I use {x}|"
      "should I think of {x}|can I understand {x}|do you explain {x}|can one describe {x})",
    "(why|when|what for|where) (do we need|do I need|do you use|is there|would I use|do people use) {x}",
    "{x}", "what is {x}", "{x}: (what is it|meaning|definition|explain|what does it mean|please explain)", "{x} (meaning|definition|explained|explanation)",
    "(meaning|definition|explanation|description) of {x}", "(explain|define|meaning|term): {x}",
    "in (a model|this library|axial|a language model|short|one sentence|simple words|a nutshell|a few words), what (is|"
      "are) {x}",
    "(someone|my colleague|the manual|the code|the page|a friend|the book|my boss) (mentions|talks about|uses|"
      "speaks of|wrote about) {x}. (What is it|What is that|What does it mean|Can you explain it)",
    "(I see|I read|I found|here it says|I came across|they speak of) {x} (|in the code|in the manual|"
      "somewhere)(, what is it|, what is that|, what does it mean|. Explain it)",
    "(I am|I'm) (new to|not familiar with|unsure about|interested in|curious about|reading about) {x}",
    "(the term|the word|the name) {x}", "is there a (short|simple|good) (definition|explanation) of {x}"]

_SUM = ("({a} + {b}|{a}+{b}|{a} plus {b}|{a} + {b}|{a} and {b} together|{a} added to {b}|the sum of {a} and {b}|"
    "the total of {a} and {b})")
_PLAIN = "({a} + {b}|{a}+{b}|{a} plus {b}|{a} +{b})"
SUM = [f"{WHAT} {_SUM} {END}", f"{ASK} (what {_PLAIN} is|how much {_PLAIN} is|what {_PLAIN} makes|"
    f"what you get for {_PLAIN}|{_SUM}|how much {{a}} and {{b}} is|what {{a}} and {{b}} make together)",
    f"{GIVE} {_SUM} {END}", f"(how much|how many) (is|are|makes|make) {_SUM} {END}", f"{_PLAIN}", f"{_PLAIN} =", f"{_PLAIN} equals", f"{_PLAIN} is",
    f"{_PLAIN} (makes|gives|is|equals|=) (what|how much|how many|which number)", f"(calculate|compute|work out|solve|"
        f"evaluate|add up|figure out|do|please calculate|can you calculate|can you compute|please compute|"
        f"could you work out|please solve|please add up|determine) {_SUM} {END}",
    "(add|please add|can you add|sum|could you add|please sum|add up|now add|try to add|can you sum|put together|"
      "count together) {a} (and|to|with) {b} {END}".replace("{END}", END),
    f"what (does {_PLAIN} (equal|make|give|come to|add up to)|do {{a}} and {{b}} (make|give|add up to|come to))",
    "what (do you get for|do I get for|number is|is the result of|is the answer to|is the value of) " + _PLAIN,
    "{a} and {b} (together make|make together|is|sum up to|add up to) (|what|how much)",
    "(if I have|I have|suppose I have|she has|he has|there are) {a} (apples|books|coins|cards|stones|pens|"
      "eggs) and (get|find|buy|add|take) {b} more, how many (do I have|are there|is that|are those)",
    "{a} (apples|books|coins|cards|stones|pens|eggs) and {b} (|more|others) (are|make|is) how many",
    "{a} increased by {b}", "{a} with {b} added", f"(the result of|result of|the answer to|solution of) {_PLAIN}",
    f"(I want to|I need to|help me to|let us|I have to|we must) (add {{a}} and {{b}}|compute {_PLAIN}|"
        f"calculate {_PLAIN}|work out {_PLAIN})",
    f"(maths|math|sum|quick maths|a sum|easy question|homework|question): {_PLAIN}"]

_NEXT = ("(and|and now|now|next|then|okay, and|ok and|good, and|thanks, and|also|what about|how about|and what about|"
    "and how about|fine, now|great, and|and also|nice, and|next one:|one more:|then what about|good. And|good. Now|"
    "I see. And|thank you, and|well, and|now what about|next is|now try|and next|but what about|another one:|"
    "fine. And|cool, and|moving on:|okay. What about|sure, and|after that,|and then)")
FOLLOW = [f"{_NEXT} {{x}}", f"{_NEXT} {{x}} (too|as well|please|then|now)", "{x} (too|as well|also|next|now)", "(the same|same|same question|"
    "and the same|do the same|same thing|once more|again) (for|with) {x}",
    f"{_NEXT} (for|that of|of|with) {{x}}", "(and|now|then) {x}, please", "{x}", "(can you do|could you do|do|try|"
        "please try|take) {x} (too|as well|next|now|)"]
FOLLOW_SUM = [f"{_NEXT} {_PLAIN}", f"{_PLAIN} (too|as well|also|next|now)", f"(the same|same|same question|"
    f"do the same) (for|with) {_PLAIN}", f"(and|now|then) {_PLAIN}, please",
    f"(can you do|could you do|do|try|please try|take) {_PLAIN} (too|as well|next|now|)", f"{_NEXT} the sum of {{a}} and {{b}}", f"{_NEXT} {{a}} and {{b}} together"]
REPEAT = ["(say|tell me|give me|write) (that|it|the answer|this) (again|once more|one more time|another time)", "(repeat|please repeat|can you repeat|"
    "could you repeat) (that|it|the answer|this|your answer|what you said) (|please|once more)",
    "(what was|what is) (that|the answer|it) again", "(what did you|what did you just) (say|answer|write|tell me)", "(come again|once more|again|one more time|repeat|repeat please|please repeat)", "I (did not|didn't) (hear|get|catch|"
      "read) (that|it|the answer), (repeat it|say it again|again, please|once more)"]


def expand(pattern):
    """Every wording that a pattern stands for, in a fixed order."""
    pattern = re.sub(r"\s*\n\s*", "", pattern)
    inner = re.search(r"\(([^()]*)\)", pattern)
    if not inner:
        return [re.sub(r"\s+", " ", pattern).replace(" ,", ",").replace(" .", ".").strip()]
    out = []
    for choice in dict.fromkeys(inner.group(1).split("|")):
        out += expand(pattern[:inner.start()] + choice + pattern[inner.end():])
    return list(dict.fromkeys(out))
