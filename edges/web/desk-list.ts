// Every desk in one list: a name, a path, the reader's question and its panels. The gateway serves these paths, the frame links them, and the keys `g`
// and a letter open them. A desk without panels is in the list from the first day and says so.

interface DeskPlace {
  readonly name: string;
  readonly path: string;
  /** After `g`. */
  readonly key: string;
  readonly title: string;
  readonly reader: string;
  readonly question: string;
  /** In reading order; none when the desk comes with a later release. */
  readonly panels: readonly string[];
}

// biome-ignore format: one desk, one line
export const desks = [
  { name: "risk", path: "/risk", key: "r", title: "Risk", reader: "risk officer", question: "How near is any limit, and what is halted?", panels: ["limit-use", "losses", "blocks", "halts", "rejections", "stops", "differences", "headroom", "envelope"] },
  { name: "funds", path: "/funds", key: "f", title: "Funds", reader: "manager", question: "What is it worth, and what did today do?", panels: ["funds", "nav", "strategies", "positions", "orders", "ledger"] },
  { name: "ops", path: "/ops", key: "o", title: "Operations", reader: "on call", question: "What is broken, and since when?", panels: ["services", "alarms", "watchdogs", "audit", "entries", "books", "drills", "logs", "lag", "weather", "tokens"] },
  { name: "signals", path: "/signals", key: "s", title: "Signals", reader: "trader", question: "Did my alert arrive, and what became of it?", panels: ["received", "signal", "sender", "ours", "template", "dry-run"] },
  { name: "replay", path: "/replay", key: "p", title: "Replay", reader: "trader", question: "What did we know and do then?", panels: ["chart", "timeline", "moment", "verify"] },
  { name: "lab", path: "/lab", key: "l", title: "Lab", reader: "quant", question: "Does it hold out of sample?", panels: [] },
  { name: "matrix", path: "/matrix", key: "m", title: "Matrix", reader: "manager", question: "Where is it concentrated?", panels: ["matrix", "cell", "correlations"] },
  { name: "zilla", path: "/zilla", key: "z", title: "Zilla", reader: "trader", question: "What did each trade teach?", panels: [] },
] as const satisfies readonly DeskPlace[];

export type DeskName = (typeof desks)[number]["name"];

/** Everything below these is a page or a file of the desks. */
export const deskPrefixes: readonly string[] = [
  "/",
  ...desks.map(({ path }) => path),
  "/about",
  "/auth/callback",
  "/assets",
];
