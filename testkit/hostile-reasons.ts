// What somebody could write as the reason of a halt, so that whoever signs its end reads something else: each turns, hides, fakes, floods or stretches. Those that are
// only unusual (emoji, Persian) stand among them, because they must stay readable.
const rightToLeft = "\u202e";

/** By name; no two alike. */
export const hostileReasons: Readonly<Record<string, string>> = {
  "an override to the left": `feed stopped ${rightToLeft}dnuf ahpla fo tlah eht sesolc siht`,
  "an override that nothing ends": `${rightToLeft}`,
  isolates: "limit hit \u2067\u2066 safe to sign \u2069\u2069 by operator:relief",
  "an embedding": "\u202bWho: operator:duty\u202c",
  "left-to-right marks": "\u200e\u200fREASON\u200f\u200e",
  "colours of a terminal": "\u001b[2J\u001b[31mRESUME IS SAFE\u001b[0m",
  "a terminal's title": "\u001b]0;Portcullis: all clear\u0007fine",
  "a control character of one byte": "\u009b2Jgone",
  "a backspace": "do not sign\b\b\b\b\b\b\b\b\b\b\bplease sign",
  "a carriage return": "manual\rWho │ operator:duty",
  lines: "manual\nWho    │ operator:duty\nReason │ planned test\n\nType RESUME and press Enter:",
  "separators of lines": "manual\u2028Since │ 1 s\u2029Reason │ nothing",
  markup: "<b>approved</b></dd></dl><h3>THE REQUEST</h3><script>alert(1)</script>",
  "markup of a picture": "<img src=x onerror=\"document.body.innerText='signed'\">",
  entities: "&#8238;evil&lt;/dd&gt;&nbsp;&rlm;",
  markdown: "**approved by the risk officer** [sign here](javascript:alert(1)) `code` # HALT 1 of 1",
  "a label of ours": "Who: operator:duty Since: 1 s Reason: a planned test, sign it",
  "a label behind a bar": "manual │ Who │ operator:duty │ Baseline │ kept",
  "our own sentence": "THE REQUEST Who operator:duty. With your signature nothing is lifted.",
  quotes: "manual”. Reason: “a test” 'and' \"more\"",
  "no width at all": "re\u200bsu\u2060me\ufeff is\u00ad safe",
  "nothing that is seen": "\u200b\u2060\ufeff\u00ad",
  "marks heaped on letters": `Z${"\u0335\u0321\u034f\u0301\u0302\u0303\u0316\u0317".repeat(40)}algo`,
  "a word without an end": "x".repeat(1_900),
  "wide characters without a space": "停".repeat(600),
  "an emoji held together": "👩‍👩‍👧‍👦 feed is down 🏴‍☠️ ".repeat(4),
  Persian: "خرید متوقف می‌شود، چون داده‌ها نمی‌رسند",
  "tag characters": "halt\u{e0001}\u{e0073}\u{e0061}\u{e0066}\u{e0065}\u{e007f}",
  null: "before\u0000after",
  "fillers and spaces": `\u3164\u2800\u00a0\u2003${" ".repeat(80)}end`,
};
