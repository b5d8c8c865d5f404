"""What the model is meant to know: capitals, the terms of the library, and the one sentence of refusal."""

CAPITALS = dict(pair.split(":") for pair in """
France:Paris;Italy:Rome;Spain:Madrid;Portugal:Lisbon;Germany:Berlin;Austria:Vienna;Switzerland:Bern;
Belgium:Brussels;the Netherlands:Amsterdam;Denmark:Copenhagen;Norway:Oslo;Sweden:Stockholm;Finland:Helsinki;
Iceland:Reykjavik;Ireland:Dublin;the United Kingdom:London;Poland:Warsaw;the Czech Republic:Prague;
Slovakia:Bratislava;Hungary:Budapest;Romania:Bucharest;Bulgaria:Sofia;Greece:Athens;Turkey:Ankara;Croatia:Zagreb;
Serbia:Belgrade;Slovenia:Ljubljana;Albania:Tirana;Estonia:Tallinn;Latvia:Riga;Lithuania:Vilnius;Ukraine:Kyiv;
Russia:Moscow;Belarus:Minsk;Malta:Valletta;Georgia:Tbilisi;Armenia:Yerevan;Azerbaijan:Baku;Egypt:Cairo;
Morocco:Rabat;Tunisia:Tunis;Algeria:Algiers;Libya:Tripoli;Kenya:Nairobi;Ethiopia:Addis Ababa;Ghana:Accra;
Senegal:Dakar;Nigeria:Abuja;Angola:Luanda;Zambia:Lusaka;Zimbabwe:Harare;Uganda:Kampala;Rwanda:Kigali;
Namibia:Windhoek;Madagascar:Antananarivo;Mozambique:Maputo;Japan:Tokyo;China:Beijing;South Korea:Seoul;
India:New Delhi;Nepal:Kathmandu;Pakistan:Islamabad;Bangladesh:Dhaka;Thailand:Bangkok;Vietnam:Hanoi;Laos:Vientiane;
Cambodia:Phnom Penh;Malaysia:Kuala Lumpur;the Philippines:Manila;Mongolia:Ulaanbaatar;Kazakhstan:Astana;
Uzbekistan:Tashkent;Iran:Tehran;Iraq:Baghdad;Saudi Arabia:Riyadh;Jordan:Amman;Lebanon:Beirut;Oman:Muscat;
the United States:Washington;Canada:Ottawa;Mexico:Mexico City;Cuba:Havana;Jamaica:Kingston;Costa Rica:San Jose;
Honduras:Tegucigalpa;Nicaragua:Managua;Brazil:Brasilia;Argentina:Buenos Aires;Chile:Santiago;Peru:Lima;
Colombia:Bogota;Ecuador:Quito;Venezuela:Caracas;Uruguay:Montevideo;Paraguay:Asuncion;Australia:Canberra;
New Zealand:Wellington;Fiji:Suva""".replace("\n", "").split(";"))

COUNTRY_NAMES = {"the United States": ["the USA", "the US", "America"], "the United Kingdom": ["the UK", "Britain", "England"],
                 "the Netherlands": ["Holland"], "the Czech Republic": ["Czechia"]}
CITY_NAMES = {"Washington": ["Washington DC"], "Kyiv": ["Kiev"]}

# Names in a question, separated by commas (the first is also used in the thought) | the definition.
TERMS = [(line.split("|")[0].split(","), line.split("|")[1]) for line in """
an axis,axes,the axis|An axis is one dimension of a tensor.
a named axis,named axes,axis names|A named axis is an axis that is found by its name, never by its position.
a tensor,tensors,the tensor class|A tensor is an array of numbers over any number of axes.
a view,views,tensor views|A view is a tensor that looks at the memory of another one without a copy.
a weight,weights,model weights|A weight is a trained tensor that a model reads from its file.
dot by name,dot,the dot function|Dot multiplies two tensors and sums over the axes that you name.
a contraction,contractions,tensor contraction|A contraction sums the products of two tensors over a shared axis.
einsum,the einsum function|Einsum writes a product of tensors as a line of axis names.
rename,renaming an axis,renamed axes|Rename gives an axis of a tensor a new name and moves no data.
split,splitting an axis,the split operation|Split turns one axis into two without a copy.
merge,merging axes,the merge operation|Merge joins two neighbouring axes into one.
broadcasting,broadcast by absence,to broadcast|Broadcasting repeats a tensor along every axis whose name it lacks.
a shape,shapes,tensor shapes|A shape is the list of the sizes of all axes.
a stride,strides,the stride of an axis|A stride is the step in memory from one element to the next along an axis.
a dtype,dtypes,an element type|A dtype is the number format of the elements of a tensor.
a matrix product,matmul,matrix multiplication|A matrix product is a contraction of two tensors over one axis.
rmsNorm,RMS norm,rmsNormMul|RMS norm divides a vector by its root mean square and multiplies it by a weight.
ropeHalf,RoPE,rotary embeddings|RoPE rotates the halves of queries and keys by an angle that grows with the position.
groupedAttention,grouped-query attention,GQA|Grouped-query attention lets several query heads share one head of keys and values.
attention,self attention,the attention mechanism|Attention lets each token gather values from the tokens before it.
an attention head,attention heads,heads|An attention head is one of several attentions that work side by side in a layer.
a causal mask,causal masking,the causal mask|A causal mask keeps a token from looking at later tokens.
swiglu,SwiGLU,a gated feed-forward|SwiGLU multiplies the SiLU of a gate with a second projection.
silu,SiLU,the SiLU function|SiLU is x times the sigmoid of x.
softmax,the softmax function,a softmax|Softmax turns scores into probabilities that sum to one.
routerTopK,the router,expert routing|The router picks the k best experts for a token and weighs them.
mixture of experts,MoE,experts|A mixture of experts has many feed-forward parts and uses a few of them for each token.
a residual stream,the residual stream,residual connections|The residual stream is the vector of a token to which every layer adds its output.
a layer,layers,a transformer layer|A layer is one round of attention and feed-forward.
a feed-forward,the MLP,feed-forward layers|The feed-forward part changes each token's vector by itself.
a transformer,transformers,the transformer architecture|A transformer is a stack of attention and feed-forward layers.
an embedding,embeddings,token embeddings|An embedding is the vector that stands for a token.
tied embeddings,weight tying,tied weights|Tied embeddings use one matrix for the input and the output tokens.
logits,a logit,the logits|Logits are the raw scores of all tokens before softmax.
a KV cache,the KV cache,KV caching|The KV cache keeps the keys and values of earlier tokens, so that they are not computed again.
prefill,the prefill phase,prompt processing|Prefill runs all tokens of the prompt through the model at once.
decode,the decode phase,decoding|Decode produces one new token at a time.
a token,tokens,a text token|A token is a piece of text with a number in the vocabulary.
a tokenizer,tokenizers,tokenization|A tokenizer splits text into tokens and joins tokens into text.
byte-level BPE,BPE,byte pair encoding|Byte-level BPE builds tokens from bytes by merging frequent pairs.
a vocabulary,vocabularies,the vocabulary|A vocabulary is the list of all tokens that a model knows.
a special token,special tokens,control tokens|A special token marks structure, such as the end of a turn, and never comes from plain text.
a chat template,chat templates,ChatML|A chat template turns messages into the prompt that a model was trained on.
thinking,thinking mode,a thought|Thinking lets a model write a hidden thought before its answer.
a prompt,prompts,the prompt|A prompt is the text that a model continues.
the context length,a context window,context size|The context length is the largest number of tokens that a model can look at.
a sampler,samplers,sampling|A sampler picks the next token from the logits.
greedy decoding,greedy search,greedy sampling|Greedy decoding always takes the token with the highest score.
temperature,the temperature setting,sampling temperature|Temperature divides the logits, so that a low one makes answers safer.
top-k,top k,top-k sampling|Top-k keeps only the k most likely tokens.
top-p,top p,nucleus sampling|Top-p keeps the smallest set of tokens whose probabilities reach p.
min-p,min p,min-p sampling|Min-p drops tokens that are much less likely than the best one.
a seed,random seeds,the sampler seed|A seed is the number that makes random choices repeatable.
quantisation,quantization,quantized weights|Quantisation stores weights with fewer bits to save memory and time.
Q8_0,q8_0 blocks,the Q8_0 format|Q8_0 stores 32 weights as 8-bit integers with one scale.
Q4_K,q4_k blocks,the Q4_K format|Q4_K stores 256 weights in 4 bits each, with small scales for groups of 32.
bfloat16,bf16,brain floats|Bfloat16 is a 16-bit number with the range of a float and less precision.
GGUF,a GGUF file,the GGUF format|GGUF is a file format that holds weights, settings and vocabulary of a model.
safetensors,a safetensors file,the safetensors format|Safetensors is a simple tensor file with a JSON header.
mmap,memory mapping,a mapped file|Mmap maps a file into memory, so that its pages load when they are needed.
SIMD,vector instructions,SIMD instructions|SIMD instructions compute several numbers at once.
Highway,the Highway library,google highway|Highway is a C++ library for SIMD code that runs on many processors.
dynamic dispatch,runtime dispatch,target dispatch|Dynamic dispatch picks the fastest code for your processor when the program runs.
a kernel,kernels,compute kernels|A kernel is the inner routine that does the arithmetic of an operation.
a thread pool,thread pools,the thread team|A thread pool keeps threads ready, so that work can be shared at once.
a graph,the graph,the recorded graph|A graph is the recorded list of operations of a model.
an observer,observers,the observer hook|An observer sees every operation and its result while a model runs.
replace,replacing an operation,the replace hook|Replace swaps an operation of a model for your own code.
eager execution,eager mode,running eagerly|Eager execution computes each operation at once when it is called.
a batch,batches,batching|A batch is a group of sequences that are computed together.
a parameter,parameters,model parameters|A parameter is one trained number of a model.
a GPT,language models,an LLM|A language model predicts the next token of a text.""".strip().split("\n")]

REFUSAL = "Sorry, I do not know that. I know capitals, small sums and the terms of this library."
LARGEST = 20    # sums of 0 .. LARGEST

NUMBER_WORDS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty""".split()
