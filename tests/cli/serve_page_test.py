"""The chat page of axial serve, in a browser: clicked, typed in, stopped, reloaded."""
import json
import unittest

from browser import Browser, chromium
from command import oracle
from server_process import Server

QUESTION = "What is the capital of France?"
LAST = "document.querySelector('#messages article:last-child')"
# Text of an answer, cut into events of every kind of line end, and an event of two lines.
CUTS = """(async () => {
  const { eventData } = await import("/completion.js");
  const text = "data: one\\n\\n: comment\\r\\ndata:two\\r\\ndata: lines\\r\\n\\r\\nevent: x\\rdata: é🙂\\r\\rdata: unfinished";
  const bad = [];
  for (let a = 0; a <= text.length; ++a) for (let b = a; b <= text.length; ++b) {
    const parts = [text.slice(0, a), text.slice(a, b), text.slice(b)];
    const got = [];
    for await (const data of eventData((async function* () { yield* parts; })())) got.push(data);
    if (JSON.stringify(got) !== JSON.stringify(["one", "two\\nlines", "é🙂"])) bad.push([a, b, got]);
  }
  return bad.slice(0, 3);
})()"""


class PageTest(unittest.TestCase):
    arguments = ()
    refusal = "no message has this"  # what the console may say

    @classmethod
    def setUpClass(cls):
        chromium()
        cls.server = Server(*cls.arguments)
        cls.url = f"http://127.0.0.1:{cls.server.port}/"
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        assert cls.server.stop() == 0

    def setUp(self):
        self.browser.resize(1200, 800)
        self.browser.open(self.url)
        self.browser.evaluate("localStorage.clear(), sessionStorage.clear()")
        self.reload()
        self.browser.messages.clear()
        self.browser.requests.clear()

    def tearDown(self):
        self.assertEqual([message for message in self.browser.messages if self.refusal not in message], [])
        for url in self.browser.requests:
            self.assertTrue(url.startswith((self.url, "data:", "blob:")), url)

    def reload(self):
        self.browser.send("Page.reload")
        self.browser.wait("document.readyState === 'complete' && document.getElementById('model').textContent !== ''")

    def type(self, text):
        self.browser.send("Input.insertText", text=text)

    def count(self, selector):
        return self.browser.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    def text(self, selector):
        return self.browser.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def value(self, selector):
        return self.browser.evaluate(f"document.querySelector({json.dumps(selector)}).value")

    def say(self, text):
        self.browser.click("#message")
        self.type(text)
        self.browser.key("Enter")

    def wait_for_answer(self):
        self.browser.wait(f"{LAST}?.className === 'assistant' && {LAST}.getAttribute('aria-busy') === 'false' "
                          "&& !document.getElementById('send').disabled")
        return self.text("#messages article:last-child .body")

    def ask(self, text):
        self.say(text)
        return self.wait_for_answer()

    def settings(self, **values):
        self.browser.click("#open-settings")
        for name, value in values.items():
            self.browser.evaluate(f"document.querySelector('[name={name}]').value = {json.dumps(value)}")
        self.browser.click("#settings button.main")


class ChatPage(PageTest):
    def test_ask(self):
        self.assertIn("Paris", self.ask(QUESTION))
        self.assertEqual(self.value("#message"), "")
        self.assertEqual(self.text("#title"), QUESTION)
        self.assertEqual(self.count("#conversations li"), 1)
        self.assertIn("tokens", self.text("article:last-child .note"))
        self.assertTrue(self.browser.evaluate("document.activeElement.id === 'message'"))

    def test_thinking_is_folded(self):
        self.settings(thinking="on")
        self.ask(QUESTION)
        details = "document.querySelector('article:last-child details')"
        self.assertFalse(self.browser.evaluate(details + ".hidden"))
        self.assertFalse(self.browser.evaluate(details + ".open"))
        self.assertNotEqual(self.text("article:last-child details div"), "")
        self.browser.click("article:last-child summary")
        self.assertTrue(self.browser.evaluate(details + ".open"))
        self.settings(thinking="off")
        self.ask(QUESTION)
        self.assertTrue(self.browser.evaluate(details + ".hidden"))

    def test_edit_and_resend(self):
        self.ask("Hello")
        self.ask("What is the capital of Italy?")
        self.browser.click("article:nth-child(1) [data-action=edit]")
        self.assertEqual(self.value(".editor textarea"), "Hello")
        self.browser.evaluate("document.querySelector('.editor textarea').select()")
        self.type(QUESTION)
        self.browser.key("Enter")
        self.browser.wait("document.querySelectorAll('article').length === 2")
        self.assertIn("Paris", self.wait_for_answer())
        self.browser.key("ArrowUp")
        self.assertEqual(self.value(".editor textarea"), QUESTION)
        self.browser.key("Escape")
        self.assertEqual(self.count(".editor"), 0)
        self.assertEqual(self.count("article"), 2)

    def test_conversations_are_kept(self):
        first = self.ask(QUESTION)
        self.browser.send("Input.dispatchKeyEvent", type="keyDown", modifiers=1, key="n", code="KeyN")
        self.browser.wait("document.querySelectorAll('article').length === 0")
        self.ask("Hello")
        self.reload()
        self.assertEqual(self.count("#conversations li"), 2)
        self.assertEqual(self.text("#title"), "Hello")
        self.browser.click("#conversations li:nth-child(2) [data-open]")
        self.assertEqual(self.text("#messages article:last-child .body"), first)
        self.browser.evaluate("confirm = () => true")
        self.browser.click("#conversations [aria-current] + button")
        self.assertEqual(self.count("#conversations li"), 1)
        self.reload()
        self.assertEqual(self.count("#conversations li"), 1)

    def test_closed_in_the_middle(self):
        self.ask(QUESTION)
        self.browser.evaluate("""(() => {
          const key = Object.keys(localStorage).find((one) => one.startsWith("axial.conversation."));
          const kept = JSON.parse(localStorage.getItem(key));
          Object.assign(kept.messages[1], { content: "The cap", state: "writing", note: undefined });
          localStorage.setItem(key, JSON.stringify(kept));
        })()""")
        self.reload()
        self.assertEqual(self.text("article:last-child .body"), "The cap")
        self.assertEqual(self.text("article:last-child .note"), "Stopped. ")
        self.browser.click("article:last-child [data-action=regenerate]")
        self.assertIn("Paris", self.wait_for_answer())

    def test_what_is_no_conversation_is_left_alone(self):
        for text in ("", "{", "null", "{}", '{"id": "x", "messages": [{"role": "system", "content": 1}]}'):
            self.browser.evaluate(f"localStorage.setItem('axial.conversation.x', {json.dumps(text)})")
            self.reload()
            self.assertEqual(self.count("#conversations li"), 0)
        self.ask("Hello")

    def test_settings_reach_the_model(self):
        self.settings(max_completion_tokens="2", seed="5", temperature="1.5")
        self.ask(QUESTION)
        self.assertIn("The longest allowed answer was reached. 2 tokens", self.text("article:last-child .note"))
        self.reload()
        self.browser.click("#open-settings")
        self.assertEqual(self.value("[name=seed]"), "5")
        self.assertEqual(self.value("[name=top_k]"), "")
        self.browser.key("Escape")

    def test_text_is_text(self):
        self.ask("<img src=x onerror=alert(1)> `<b>` **<i>x</i>**\n```html\n<script>alert(2)</script>\n```\nend")
        body = "document.querySelector('article.user .body')"
        self.assertEqual(self.count("#messages img, #messages b, #messages i, #messages script"), 0)
        self.assertEqual(self.text("article.user pre"), "<script>alert(2)</script>")
        self.assertEqual(self.text("article.user p code"), "<b>")
        self.assertIn("<img src=x onerror=alert(1)>", self.browser.evaluate(body + ".textContent"))

    def test_attention_of_an_answer(self):
        self.ask(QUESTION)
        self.browser.evaluate("window.tab = {}, open = () => window.tab, 0")
        self.browser.click("article:last-child [data-action=attention]")
        self.browser.wait("window.tab.location !== undefined")
        url = self.browser.evaluate("String(window.tab.location)")
        self.assertRegex(url, self.url + "attention/[0-9A-Za-z]{24}$")
        answer, data = self.server.request("GET", url.removeprefix(self.url[:-1]))
        self.assertEqual(answer.status, 200)
        self.assertIn("script-src 'sha256-", answer.headers["Content-Security-Policy"])
        self.assertIn(b"<!DOCTYPE html>", data)
        self.browser.open(url)
        self.browser.wait("document.getElementById('overview').getAttribute('aria-busy') === 'false'")

    def test_attention_has_limits(self):
        self.assertEqual(self.server.post("/attention", {})[0], 400)
        self.assertEqual(self.server.post("/attention", {"messages": []})[0], 400)
        long = [{"role": "user", "content": "word " * 5000}]
        status, body = self.server.post("/attention", {"messages": long})
        self.assertEqual((status, body["error"]["param"]), (400, "messages"))
        answer, _ = self.server.request("GET", "/attention/" + "x" * 24)
        self.assertEqual(answer.status, 404)

    def test_on_a_phone(self):
        self.browser.resize(390, 800, phone=True)
        self.reload()
        self.ask("A rather long question, " * 5 + "x" * 200)
        self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), 390)
        self.browser.tap("#open-sidebar")
        self.browser.wait("document.body.classList.contains('sidebar-open')")
        self.browser.wait("document.getElementById('sidebar').getBoundingClientRect().left === 0")
        self.browser.tap("#conversations [data-open]")
        self.browser.wait("!document.body.classList.contains('sidebar-open')")
        self.browser.tap("#open-settings")
        self.assertLessEqual(self.browser.evaluate("document.querySelector('dialog').getBoundingClientRect().right"), 390)
        self.browser.key("Escape")

    def test_events_however_they_are_cut(self):
        self.assertEqual(self.browser.evaluate(CUTS), [])

    def test_its_files(self):
        for path in ("/", "/chat.js", "/chat.css"):
            for method in ("GET", "HEAD"):
                answer, _ = self.server.request(method, path)
                self.assertEqual(answer.status, 200)
                self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
            self.assertEqual(self.server.request("POST", path, {})[0].status, 405)
        self.assertEqual(self.server.request("GET", "/index.html")[0].status, 404)


class LongAnswers(PageTest):
    """Of a model without training, whose best token never is one that ends the answer."""

    @classmethod
    def setUpClass(cls):
        cls.arguments = ("-m", oracle("models", "tiny-qwen3-F32.gguf"), "-c", "8192")
        super().setUpClass()

    def say_and_wait(self):
        self.settings(temperature="0")
        self.say(QUESTION)
        self.browser.wait(f"{LAST}?.className === 'assistant' && {LAST}.textContent.length > 40")
        self.assertTrue(self.browser.evaluate("document.getElementById('send').hidden"))

    def test_stop_and_regenerate(self):
        self.say_and_wait()
        self.browser.click("#stop")
        self.wait_for_answer()
        self.assertIn("Stopped.", self.text("article:last-child .note"))
        self.assertTrue(self.server.idle_within(10))
        self.settings(temperature="0", max_completion_tokens="5")
        self.browser.click("article:last-child [data-action=regenerate]")
        self.wait_for_answer()
        self.assertEqual(self.count("article"), 2)
        self.assertIn("5 tokens", self.text("article:last-child .note"))

    def test_escape_stops(self):
        self.say_and_wait()
        self.browser.key("Escape")
        self.wait_for_answer()
        self.assertIn("Stopped.", self.text("article:last-child .note"))

    def test_another_conversation_meanwhile(self):
        self.say_and_wait()
        self.browser.click("#new-conversation")
        self.assertEqual(self.count("article"), 0)
        self.assertTrue(self.browser.evaluate("document.getElementById('send').disabled"))
        self.browser.click("#conversations [data-open]")
        self.browser.click("#stop")
        self.wait_for_answer()
        self.assertEqual(self.count("#conversations li"), 1)

    def test_deleted_meanwhile(self):
        self.say_and_wait()
        self.browser.evaluate("confirm = () => true")
        self.browser.click("#conversations [data-remove]")
        self.browser.wait("!document.getElementById('send').disabled")
        self.assertTrue(self.server.idle_within(10))
        self.assertEqual(self.count("#conversations li"), 0)
        self.reload()
        self.assertEqual(self.count("article"), 0)


class ChatPageWithKey(PageTest):
    arguments = ("--api-key", "secret")
    refusal = "status of 401"

    def reload(self):
        self.browser.send("Page.reload")
        self.browser.wait("document.readyState === 'complete'")

    def test_asks_for_the_key(self):
        self.say(QUESTION)
        self.browser.wait("document.getElementById('settings').open && document.activeElement.id === 'api-key'")
        self.type("secret")
        self.browser.key("Enter")
        self.browser.wait("!document.getElementById('settings').open")
        self.browser.click("#try-again")
        self.assertIn("Paris", self.wait_for_answer())
        self.assertTrue(self.browser.evaluate("document.getElementById('notice').hidden"))
        self.assertNotEqual(self.text("#model"), "")

    def test_what_needs_a_key(self):
        self.assertEqual(self.server.request("GET", "/")[0].status, 200)
        self.assertEqual(self.server.request("GET", "/attention/x")[0].status, 404)
        self.assertEqual(self.server.request("POST", "/attention", {"messages": []})[0].status, 401)


if __name__ == "__main__":
    unittest.main()
