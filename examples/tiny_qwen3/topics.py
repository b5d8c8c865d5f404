"""What the model must refuse: things, places and questions outside of its small world."""

NOUNS = """apple river hammer garden window bread cheese engine planet castle island forest camera guitar piano violin soup
salad tiger lion elephant horse bird spider tree flower grass stone iron silver copper paper pencil book letter school teacher
student hospital nurse police judge law money bank market shop shoe coat hat shirt button needle cotton wool silk table
chair lamp mirror door roof house bridge road train plane ship boat bicycle bus truck wheel brake fuel oil gas coal wind rain
snow storm cloud sun star comet rocket robot phone radio television movie theatre opera dance song drum flute king queen prince
soldier army war peace treaty vote party tax wage office factory farm corn wheat rice potato tomato onion garlic pepper salt
sugar honey butter milk egg meat fish chicken pizza sandwich cake cookie chocolate tea juice beer water ice fire smoke ash dust
sand desert valley hill lake beach wave tide whale shark dolphin turtle snake frog insect bee ant butterfly virus blood heart
brain bone muscle skin eye ear nose tooth sleep dream fear anger joy luck game puzzle card dice ball racket goal team coach
league medal race marathon yoga hatchet taxi actor sensor doctor sector rotor terror motor mentor wait freight height eight
waiter review preview interview dot-com spot robot-arm contract contractor extraction attraction traction inflation
nation station ration renown surname nickname username spirit splinter spit merger mercy emerald broadcast-station radio-show
shade ship-yard drape stripe bride pride mat material matron norm normal storm-drain hope soap tension pension detention mention
headache header bread-head mask masquerade ball-mask swing swig sweet softball software soft-drink route routine outer expert-witness
stream dream-team scream player lawyer slayer buyer feeder transformer-toy former reformer embassy bed bedding tie necktie login logic
logo cash crash cachet filling fill code-name decoder-ring decor token-coin toll broken spokesman grammar vocal vocation
specialist temple template thinker drinking thinner promptness prom text-book contest contextual sampling-fee sample simple
greed temper temperament topping tank top-hat minnow minute seed-cake weed steed quantity quality quarter quiz quilt gift
golf gulf guffaw safe safari tensorial sim-card simmer high-heel highland freeway dynamite dynasty patch dispatch-rider kennel
colonel carnal thread-mill spread carpool pool-table graph-paper giraffe photograph paragraph observatory observation replica
place-mat cagey eagle batch-cake latch patch-work match watch parameterless barometer speedometer perimeter linguist tongue
ladder bucket broom mop sponge towel blanket pillow mattress curtain carpet candle lantern torch battery magnet compass anchor
sail mast rudder paddle canoe raft tent rope-ladder saddle bridle barn fence gate hedge lawn shovel rake hoe plough tractor
harvest orchard vineyard grape plum peach cherry lemon orange banana mango melon berry walnut almond acorn oak pine birch maple
willow ivy moss fern rose tulip lily daisy orchid cactus bamboo panda koala kangaroo camel llama-animal goat sheep cow pig duck
goose swan owl hawk raven crow parrot penguin seal otter beaver squirrel rabbit fox wolf bear deer moose bison zebra rhino hippo
monkey gorilla lizard crocodile dinosaur fossil volcano earthquake flood drought glacier iceberg canyon cave cliff waterfall
galaxy nebula meteor satellite telescope microscope atom molecule electron proton neutron acid alkali enzyme protein vitamin
vaccine antibiotic surgery bandage fever cough allergy diet exercise football tennis hockey cricket rugby boxing wrestling
skiing surfing sailing fishing hunting hiking camping painting sculpture pottery knitting sewing cooking baking brewing
gardening chess poker lottery casino theater circus carnival parade wedding funeral birthday holiday vacation passport visa
airport hotel restaurant menu recipe spoon fork knife plate bowl cup bottle kettle oven stove fridge freezer toaster blender
vacuum laundry soap-opera shampoo perfume lipstick haircut barber tailor baker butcher plumber carpenter mason painter sculptor
poet novelist journalist editor lawyer-fee notary mayor senator minister president emperor pharaoh knight samurai pirate
wizard witch dragon unicorn vampire ghost zombie alien mermaid fairy giant dwarf elf goblin troll bitcoin stock bond mortgage
insurance salary budget inflation-rate invoice receipt coupon discount auction museum library-card gallery monument tower pyramid
temple-ruin church mosque cathedral monastery bible poem novel sonnet comedy tragedy ballet jazz blues rock-music symphony
concert festival trumpet saxophone clarinet cello harp organ trombone violin-bow microphone keyboard laptop printer browser website
password firewall email spam blog podcast headline newspaper magazine novel-prize calendar clock alarm stopwatch""".split()
NOUNS = [noun.replace("-", " ") for noun in dict.fromkeys(NOUNS)]

# Words of the library in another sense, and terms of computing that the model was not taught.
NEAR = """my weight|the temperature outside|the view from the hill|a graph of sales|the axis powers|a thread of wool|
a group chat|
the head of state|a split in my trousers|a merge lane|an observer of birds|a seed of grass|a batch of cookies|a layer of paint|
a kernel of corn|a popcorn kernel|the shape of my face|a token of love|a bus token|the vocabulary of a child|a swimming pool|
a replacement tooth|a motorway|the top ten|a prompt reply|the context of the war|attention deficit|a face mask|a carnival mask|
a gas mask|a contraction of a muscle|a sampler of cheese|a TV broadcast|a radio broadcast|a city map|a database|a compiler|
a linked list|a hash table|a web server|a pointer|a recursion|an operating system|a regular expression|a JPEG file|a PDF file|
a ZIP file|an mp3 file|an Excel sheet|a PNG image|a spreadsheet|a binary tree|a for loop|a Python class|a JavaScript promise|
a Java method|a SQL query|a convolution|a diffusion model|a decision tree|a random forest|a support vector machine|k-means|
a recurrent network|an LSTM|a GAN|an autoencoder|a perceptron|batch norm|dropout|backpropagation|gradient descent|
an optimiser|Adam|stochastic gradient descent|a learning rate|an epoch|overfitting|a loss function|cross entropy|
reinforcement learning|a reward model|a GPU|CUDA|a graphics card|OpenGL|Vulkan|Docker|Kubernetes|git|GitHub|Linux|Windows|
Android|a mutex|a semaphore|a deadlock|a coroutine|a garbage collector|an interpreter|assembly code|a linker|a debugger|
a unit test|a cloud server|a blockchain|a cookie in a browser|a router for the internet|a wifi router|a network switch|
a modem|an IP address|a firewall rule|a transformer of power lines|an electric transformer|a car transmission|
a weight loss plan|
the weight of an elephant|the temperature of the sun|body temperature|a fever temperature|a fine view|a sea view|
a room with a view|
a head of lettuce|the head office|a headteacher|a stream of water|a mountain stream|a live stream|a decoder for TV|
an axis of evil|
the axis of the earth|the earth's axis|a broadcasting company|the BBC|renaming a file|a file merge|a company merger|
splitting wood|
a split screen|a dot on paper|a polka dot|a router in my house|a wine expert|an expert opinion|a mixture of spices|
a cake mixture|residual waste|a feed for cows|baby food|a rope bridge|a strong rope|swimming|a matrix in the film|
The Matrix|a sentence|
a parameter of a law|a language school|a foreign language|a cash register|a kv mixer|prefabricated houses|a codebook|
a special offer|
a special day|a chat with my mother|a letter template|deep thoughts|positive thinking|a long context|a greedy man|a greedy dog|
a seed bank|pumpkin seeds|a highway to the coast|a highway accident|the highway patrol|a police dispatch|the thread on a screw|
a car pool|a team of horses|an observer mission|an execution|a batch file|a GPT partition|a safe|tensor bandages|
muscle tension""".replace("\n", "").split("|")

OTHER_TOPICS = """the weather|the stock market|my horoscope|football|cooking pasta|the news of today|quantum physics|politics|
my cat|the history of Rome|baking bread|the best movie|a good song|chess openings|my taxes|cancer|the moon|black holes|
the president|my homework|diets|the lottery numbers|a cheap hotel|love|religion|the meaning of life|Mozart|Beethoven|
the Olympic games|programming in Java|web design|the price of gold|coffee|the second world war|climate change|my mother|
the ocean|video games|the speed of light|philosophy|Napoleon|electric bikes|wine|Shakespeare|the French Revolution|Einstein|
Newton|Darwin|Picasso|Leonardo da Vinci|the Roman empire|Star Wars|Harry Potter|The Beatles|Elvis|the Titanic|Mickey Mouse|
Batman|Superman|James Bond|Sherlock Holmes|the Mona Lisa|the Eiffel Tower|the Great Wall|the Nile|the Amazon|Mount Everest|
the Alps|the Sahara|the North Pole|gravity|evolution|photosynthesis|electricity|nuclear power|solar energy|democracy|
capitalism|inflation|unemployment|the World Cup|the Super Bowl|Formula 1|Google|Apple|Tesla|Amazon|Microsoft|Netflix|YouTube|
Facebook|Instagram|Wikipedia|the internet|mathematics|geometry|algebra|calculus|prime numbers|pi|chemistry|biology|
astronomy|geology|psychology|sociology|economics|law|medicine|dentistry|nursing|my boss|my friend|my wife|my husband|my son|
my daughter|my neighbour|our dog|the human body|the human brain|the immune system|dinosaurs|the ice age|the middle ages|
ancient Greece|the pharaohs|Julius Caesar|Cleopatra|Columbus|Gandhi|Mandela|Lincoln|Churchill|the Queen of England|the Pope|
Buddhism|Christianity|Islam|yoga exercises|meditation|jogging|weight lifting|a healthy breakfast|vegan food|sushi|pizza dough|
apple pie|a birthday cake|a love letter|a cover letter|my CV|a job interview|a business plan|a tax return|a rental contract|
the bus timetable|train tickets|flights|hotels|the exchange rate|the price of oil|interest rates|real estate|
used cars""".replace("\n", "").split("|")

PLACES = """Atlantis|Narnia|Mordor|Gondor|Wakanda|Utopia|Genovia|Oz|Neverland|Elbonia|Bavaria|California|Texas|Brittany|
Sicily|Mars|Jupiter|the Moon|Africa|Europe|Asia|Bhutan|Mali|Chad|Cyprus|Bolivia|Panama|Haiti|Togo|Niger|Somalia|Yemen|Qatar|
Kuwait|Syria|Moldova|Kosovo|Florida|Alaska|Hawaii|Ohio|Nevada|Oregon|Utah|Kansas|Iowa|Maine|Georgia state|Virginia|Arizona|
Colorado|Montana|Michigan|Alabama|Scotland|Wales|Cornwall|Yorkshire|Saxony|Hesse|Tuscany|Lombardy|Catalonia|Andalusia|
Normandy|Provence|Burgundy|Flanders|Tyrol|Bohemia|Moravia|Siberia|Crimea|Ontario|Quebec|Alberta|Manitoba|Queensland|
Tasmania|Victoria state|Bali|Java island|Sumatra|Borneo|Hokkaido|Tibet|Hong Kong|Taiwan|Greenland|the Arctic|Antarctica|
Saturn|Venus|Pluto|the Sun|the Milky Way|Middle-earth|Hogwarts|Westeros|Gotham|Lilliput|Camelot|Arcadia|Asgard|Valhalla|
El Dorado|Tatooine|Springfield|the Shire|Rohan|Zamunda|Ruritania|Freedonia|Sokovia|Latveria|Panem|Equestria|Hyrule|Azeroth|
the European Union|South America|Oceania|the Roman empire|Prussia|Yugoslavia|the Soviet Union|Persia|Mesopotamia|Babylon|
the Ottoman empire|Burma|Siam|Ceylon|Botswana|Lesotho|Malawi|Burundi|Gabon|Cameroon|Benin|Liberia|Sierra Leone|Gambia|Guinea|
Mauritania|Sudan|Eritrea|Djibouti|the Congo|Bahrain|Afghanistan|Turkmenistan|Tajikistan|Kyrgyzstan|Brunei|Samoa|Tonga|
Vanuatu|Palau|Nauru|Belize|Guatemala|El Salvador|Suriname|Guyana|Barbados|Trinidad|Dominica|Grenada|Monaco|Andorra|
Liechtenstein|San Marino|Luxembourg|Montenegro|North Macedonia|Bosnia|Sri Lanka|South Africa|Tanzania|Singapore|Indonesia|
Israel|North Korea|Ivory Coast|Bahamas|the Vatican""".replace("\n", "").split("|")

CITIES = """Munich|Hamburg|Cologne|Frankfurt|Milan|Naples|Venice|Turin|Florence|Barcelona|Seville|Valencia|Porto|Lyon|
Marseille|Nice|Bordeaux|Toulouse|Geneva|Zurich|Basel|Salzburg|Graz|Antwerp|Bruges|Rotterdam|Utrecht|Gothenburg|Malmo|Bergen|
Krakow|Gdansk|Brno|Manchester|Liverpool|Birmingham|Leeds|Glasgow|Edinburgh|Cardiff|Belfast|Cork|Dubrovnik|Split city|
Thessaloniki|Istanbul|Izmir|Odessa|Lviv|Saint Petersburg|Kazan|New York|Chicago|Los Angeles|San Francisco|Boston|Houston|
Dallas|Miami|Seattle|Denver|Atlanta|Detroit|Las Vegas|Philadelphia|Toronto|Montreal|Vancouver|Calgary|Sydney|Melbourne|
Brisbane|Perth|Auckland|Sao Paulo|Rio de Janeiro|Salvador|Rosario|Cordoba|Medellin|Cali|Guayaquil|Cusco|Monterrey|Guadalajara|
Cancun|Osaka|Kyoto|Nagoya|Shanghai|Shenzhen|Wuhan|Chengdu|Mumbai|Calcutta|Chennai|Bangalore|Karachi|Lahore|Busan|Da Nang|
Saigon|Phuket|Casablanca|Marrakesh|Fes|Alexandria|Luxor|Lagos|Mombasa|Cape Town|Durban|Johannesburg|Dubai|Mecca|Medina|
Jeddah|Aleppo|Basra|Isfahan|Shiraz|Samarkand|Almaty|Gotham City|Metropolis|Minas Tirith|King's Landing|Rivendell|Hogsmeade|
Emerald City|Bikini Bottom|Zion|Troy|Sparta|Carthage|Pompeii|Nineveh|Thebes""".replace("\n", "").split("|")

SYLLABLES = """ba be bo da do fa fi ga go ha hu ja ka ki la le lo ma mi mo na ne no pa po ra ri ro sa si so ta te ti to va vi
wa ya za zo bri cra dro fle glu kna plo qui sta tre vlo wex yor zin""".split()

# Questions about known things that are not the one known fact. {c} country, {k} capital, {t} term, {x} anything, {n} number.
ABOUT_PLACES = """(how many|what number of) (people|inhabitants|citizens|cars|children|lakes|rivers|cities) (live in|
are in|are there in|does one find in) {p}|
(who is|who was|what is the name of|name) the (president|king|queen|mayor|ruler|prime minister|leader|chancellor|
first king) of {p}|
(what|which) (language|languages|religion|currency|money) (do they speak|do people use|is used|is spoken|do they have) in {p}|
(what is|what's|tell me|name|which is) the (currency|population|area|flag|language|climate|largest city|
highest mountain|longest river|national dish|history|time zone|second city|oldest town|anthem|area code|best hotel|
economy|postal code|main airport) (of|in) {p}|
(how is|what is|how will be) the (weather|food|traffic|temperature|air) in {p} (|today|tomorrow|now)|(how far|
how long|how many hours) is it (to|from here to) {p}|
(when was|who) (founded|built|discovered|conquered) {p}|when was {p} (founded|built|discovered|destroyed|bombed)|
(how do I get|how can I travel|how can I get|book a flight|I need a train|buy a ticket) to {p}|
(is|was) {p} (big|beautiful|expensive|old|safe|cold|rich|nice|far away|a good place to live)|why is {p} (famous|
so big|so rich|so poor|at war)|(what|which) (rivers|seas|mountains|countries) (are near|are close to|border on|
surround) {p}|
what (can I do|should I see|can I eat|can one buy) in {p}|(how big|how old|how rich|how large|how hot) is {p}|(who|
which people) (lives|live) in {p}|which (team|club|band|writer|food) comes from {p}|(should I|can I|may I) (move to|
visit|travel to|invest in) {p}|(did|does|will) {p} (win the cup|join the union|have a king|have a coast|produce oil)|
(which|what) (continent|part of the world) is {p} (in|on)|the (population|flag|king|currency|weather|language|
president) of {p}|the second largest city (of|in) {p}|what was the (old|former|first|ancient) capital of {p}|
the neighbours of {p}"""
ABOUT_TERMS = """(who invented|who discovered|who came up with|who first used|who named|who wrote about) {t}|
when was {t} (invented|discovered|first used|made)|how (much|expensive) (does|is) {t} (cost|really)|
(write|show me|give me) (code|a program|an example|a poem|a test|a benchmark) (for|of|about|with) {t}|(how fast|
how slow|how big|how many bytes|how old) is {t}|is {t} (good|bad|fast|slow|better than others|dangerous|hard|new)|
(do you like|do you use|do you prefer|who uses|who needs) {t}|
which (book|paper|company|course) is best for {t}|(recommend|find|buy) a (book|course|video|paper) (on|about) {t}|
how do I (debug|test|speed up|delete|draw|paint) {t}|the (history|inventor|price|future|best book) of {t}|
what is the (difference|best choice) between {t} and {u}|(compare|rank) {t} and {u}|(should I|
would you) use {t} or {u}"""
STATEMENTS = """(is|is it true that|am I right that|would you say|can you confirm that|tell me if|yes or no:|
true or false:|do you agree that|check if|I think that|I believe|I say|isn't|so|surely) {k} (is the capital of|
the capital of|is in|belongs to) {c}|
(is|was) {k} (the capital of|in|a city in|located in|part of|the capital city of) {c}|{k} is (the capital of|
in) {c}, (right|correct|true or false|yes or no|isn't it|is it|no)|is the capital of {c} {k}|
does {c} have {k} as its capital|is {c}'s capital {k}|the capital of {c} is {k}, (right|correct|true|isn't it)|
is {k} or {l} the capital of {c}|(what is|which is) (bigger|larger|older|nicer), {k} or {l}|is {k} (bigger|larger|
older|nicer) than {l}|(what is|which is) (bigger|larger|richer), {c} or {d}|is {c} (bigger|larger|richer|
older) than {d}|
(what is|name|tell me|list) (the capitals of|all capitals of) {c} and {d}|how far is it from {k} to {l}|
which country lies between {c} and {d}|does {c} (border|like|trade with) {d}|(what is|
tell me) the distance from {k} to {l}"""
NUMBERS = """(what is|calculate|compute|how much is|tell me|solve||) {n} (minus|-|times|*|x|divided by|/|
to the power of|^|mod|over) {m}|(is|is it true that|would you say) {n} (is greater than|greater than|larger than|
bigger than|is more than|less than|smaller than|equal to|above|below) {m}|
(which is|what is|which number is|which one is) (greater|larger|bigger|smaller|less|more|the maximum), {n} or {m}|
(compare|the maximum of|the minimum of|max of|min of|the average of|the difference of|the product of|
the difference between) {n} and {m}|{n} (>|<|==|>=|!=) {m}|
(what is|calculate|tell me|compute) the (square root|square|cube|half|double|factorial|logarithm|sine|inverse) of {n}|
is {n} (prime|even|odd|a prime number|divisible by {m}|an even number|a square number)|(take|subtract) {n} (away |
)from {m}|multiply {n} (by|with) {m}|divide {n} by {m}|(count to|count from {m} to|convert|spell) {n}|
(what comes after|what comes before|the number after) {n}|how many (days|hours|metres|euros|miles|
grams) are {n} (weeks|years|dollars|feet|pounds)|{n} percent of {m}|(what is|how much is|compute|add|
) {n} + {m} + {o}|what number plus {n} makes {m}"""
BIG_SUMS = """(how much|how many) (is|are|makes|make) {n} (and|plus|+) {m}|what (do you get for|do I get for|
number is|is the result of|is the answer to|does|is the value of) {n} (+|plus) {m} (|make|equal)|{n} plus {m}|
{n} + {m} =|(add|add up|sum|please add|can you add|sum up) {n} (and|to|with) {m}|(tell me|I wonder|do you know|
can you tell me|I want to know) (what|how much) {n} (+|plus|and) {m} is|(and|and now|now|what about|how about|
then) {n} (+|plus) {m}|(what is|calculate|compute|how much is|tell me|solve||what's|please compute|give me) {n} (+|
plus) {m}|{n}+{m}|add {n} (and|to) {m}|(the sum of|sum of|what is the sum of) {n} and {m}"""
TASKS = """(write|can you write|please write|compose|make) (me |)(a|one) (poem|story|song|letter|report|speech|script|
program|tale|novel|recipe|review|tweet|function|haiku|limerick) (about|on|for|with) {x}|(who|which man|which woman|
which person) (invented|discovered|wrote|painted|built|made|founded|killed|won|directed|composed|designed) {x}|
when (did|does|will|was) {x} (begin|end|start|happen|arrive|open|made|invented|born)|(how old|how tall|how far|
how heavy|how big|how deep|how expensive|how long|how fast|how hot) is {x}|how much (does {x} cost|is {x}|
money do I need for {x})|(can you|could you|please|will you) (buy|sell|draw|cook|repair|translate|order|find|send|
bring|clean|paint|play|open|build) {x} (for me|today|now|)|
(do you like|do you love|do you own|do you want|do you believe in|have you seen|have you tried|would you like) {x}|
how (do I|can I|to|should I) (make|build|cook|repair|buy|sell|paint|grow|learn|use|play|clean|find|draw|catch) {x}|
(where|when) (can I|do I|should I) (buy|find|see|get|learn|watch|meet|eat) {x}|why (is|are|was) {x} so (popular|
expensive|important|red|big|bad|famous|loud|cold)|(what is|tell me|name) the (best|price|colour|weight|history|
meaning|size|origin|inventor|purpose|name|sound|taste|age|owner) (of|for) {x}|
(give me|I need|do you have) (advice|tips|a recipe|an idea|information|a present|money|a plan) (for|on|about) {x}|
(recommend|suggest|find) (me |)(a|some) (book|film|song|game|place|website|course|video) (about|on|like|with) {x}|(is|
was) {x} (good|bad|dangerous|healthy|real|alive|open|expensive|legal|blue|better than yours)|I (want to|have to|must|
can not|would like to) (buy|sell|paint|cook|learn|forget|see|find|build) {x}|(my|our|his|her) (mother|dog|cat|boss|
brother|teacher) (likes|hates|lost|bought|broke|wants) {x}|which {x} (is the best|should I buy|is the largest|
do you like|is yours)|are you {x}|can you (swim|run|fly|cook|sing|dance|drive|hear me|see me|read my mind|draw|paint|
count to ten|play chess|play {x}|see {x}|hear {x})|what (colour|sound|shape|size|kind of thing) (is|does|
has) {x} (make|have|)|what happened (to|with|in) {x}|let us (play|buy|build|eat|watch) {x}|translate {x} (to|
into) (German|French|Spanish|Latin)|how do you (spell|say|write|pronounce) {x} (in French|in German|in Spanish|)|
what rhymes with {x}|(the|some) {x} (is|are) (broken|gone|late|nice|here)|{x} or {y}|(what is|which is) (better|
bigger|older|cheaper), {x} or {y}|(compare|choose between) {x} and {y}"""
FIXED = """what time is it|what's the time|tell me the time|what day is (it|today|tomorrow)|what (date|year|
month) is it|is it (monday|sunday|late|raining|cold outside|christmas)|(will it|is it going to) (rain|snow|be cold|
be sunny) (today|tomorrow|on sunday)|what is the weather like (today|tomorrow|outside|)|
who won (the match|the game|the election|the race|the world cup) (yesterday|today|last year|)|what should I (eat|wear|
cook|read|watch|buy|do) (tonight|today|tomorrow|)|(where do I live|what is my name|who am I|how old am I|
what did I say|what do I like|where am I|what am I doing|what is my job|do you know me)|
(play some music|open the window|turn on the light|close the door|set an alarm|call my mother|send an email|
book a table|order a pizza|start the car|stop the music|take a photo|search the web|read this file|run this code|
fix my code|delete my files|write code|write an essay|draw a picture|sing a song|sing me a song)|
translate this (sentence|text|word|letter|page)|
(what is love|what is the meaning of life|what is happiness|is there a god|what happens after death|why are we here|
is the earth flat|why is the sky blue|why is grass green|who was first, the hen or the egg|
what is the answer to everything|what is the universe)|(tell me|read me|tell) (a story|the news|a fairy tale|a secret|
a riddle|something new|a fun fact|a lie|a poem|my fortune|a bedtime story)|
what (is new|happened today|happened yesterday|are the news|is on television|is in the news|will happen tomorrow)|
(give me|lend me|I need) (some money|ten euros|a hug|a job|a car|a house|a break)|how do I (tie a tie|lose weight|
get rich|sleep better|fix my car|boil an egg|learn English|find a job|get home|cook rice|make friends|write a letter)|
(will you|can you|do you want to) (marry me|be my friend|go out with me|help me move|come home|dance with me)|
(who is the|who was the) (richest man|first man on the moon|best player|tallest man|oldest woman|strongest animal|
fastest runner)|how (many|much) (people live on earth|planets are there|days are in a year|legs has a spider|
stars are in the sky|hours has a day|bones has a man|teeth do I have|water should I drink)|what is the (largest ocean|
longest river|highest mountain|largest animal|fastest car|best phone|smallest country|largest city|oldest city|
coldest place|largest country) (|in the world|on earth)|(I feel|I am|I'm) (sad|ill|tired|hungry|lonely|angry|in love|
cold|lost|late|afraid)|(I have|I've got) (a headache|no money|a cold|a problem|two dogs|a new car|an idea)|(list|name|
tell me) (all|three|some|five|ten) (countries|capitals|cities|animals|rivers|colours|planets|tensors|numbers|words|
terms)"""
