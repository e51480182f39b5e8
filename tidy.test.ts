// The architecture as a test: who may import whom, where clocks may be read, how long a file may be. The rules are in
// testkit/tidy; here they are held against the repository, and against planted violations that they must catch.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { tableGrants } from "./adapters/postgres/logins/table-grants.ts";
import { requestBounds } from "./contracts/src/generated/bounds.ts";
import { realTimeFiles } from "./scripts/real-time.js";
import { isNeverRepeated, neverRepeated } from "./scripts/repeats.js";
import { readCommitted } from "./scripts/test-times.js";
import { unboundedComplaints } from "./testkit/tidy/bounds.ts";
import { circlesOf } from "./testkit/tidy/circles.ts";
import { type ApiDocument, everyDeclaration, ownershipComplaint } from "./testkit/tidy/ownership.ts";
import { privateWordComplaints } from "./testkit/tidy/private-words.ts";
import { figureComplaint, quotedFigures } from "./testkit/tidy/quoted-figures.ts";
import { judge } from "./testkit/tidy/rules.ts";
import { importsOf, parseSource, type SourceFile } from "./testkit/tidy/source.ts";
import { costComplaints } from "./testkit/tidy/test-costs.ts";

const root = import.meta.dirname;
const skipped = new Set(["node_modules", "dist", ".cache", ".portcullis", ".git", "coverage"]);

function walk(folder = ""): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : walk(path);
    return [path];
  });
}

const files = walk();
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const complaintsOn = (source: SourceFile): string =>
  judge(source)
    .map((complaint) => `${complaint.path}:${complaint.line} ${complaint.message}`)
    .join("\n");

interface Judged {
  readonly complaints: string;
  readonly imports: ReturnType<typeof importsOf>;
}
const judged = new Map<string, Judged>();
/** Parsing is most of the work here, so each file is parsed once; thousands of trees that are kept cost as much again in collections. */
const judgedAt = (path: string): Judged => {
  const source = judged.has(path) ? undefined : parseSource(path, read(path));
  if (source !== undefined) judged.set(path, { complaints: complaintsOn(source), imports: importsOf(source) });
  return judged.get(path) ?? { complaints: "", imports: [] };
};

describe("the repository is tidy", () => {
  test("every source file keeps the rules", { timeout: 240_000 }, () => {
    const complaints = files
      .filter((path) => /\.(tsx?|js)$/.test(path))
      .map((path) => judgedAt(path).complaints)
      .filter((text) => text !== "");
    expect(complaints.join("\n")).toBe("");
  });

  test("says it as the field says it", () => {
    const planted = [
      "const rig = openRig();",
      "function isToldOnce() {}",
      "let toldAt = 0;",
      "interface AuditWish {}",
      "const fundSheet = 1;",
      "// Whoever signs is reported the second half.",
      "// A broker that are reported them.",
      "// In between, a read the clock costs as much as a gate.",
      "// The price of a read of a row.",
    ];
    expect(privateWordComplaints("a.ts", planted.join("\n"))).toEqual([
      'a.ts:1 "rig": say fixture',
      'a.ts:2 "isTold": say reported, notified, audited',
      'a.ts:3 "told": say reported, notified, audited',
      'a.ts:4 "AuditWish": say request',
      'a.ts:5 "fundSheet": say fund state',
      'a.ts:6 "is reported the": say told, or reported to',
      'a.ts:7 "are reported them": say told, or reported to',
      'a.ts:8 "a read the": say a look at',
      'a.ts:9 "a read of a": say a look at',
    ]);
    const english =
      "// The caller is told so; look at it as it wishes. Told of a halt, untold, it is reported to the chat.";
    expect(privateWordComplaints("a.ts", english)).toEqual([]);
    expect(files.flatMap((path) => privateWordComplaints(path, read(path)))).toEqual([]);
  });

  test("every operation and foreign event says whose that must be which it names", () => {
    const all = everyDeclaration(JSON.parse(read("edges/client/openapi.json")) as ApiDocument);
    expect(all.flatMap((declared) => ownershipComplaint(declared) ?? [])).toEqual([]);
    const named = (name: string) => all.filter((declared) => declared.name === name);
    const planted = [...named("GetHeadroom"), ...named("RotateWebhookSecret"), ...named("svc.v1.oms.fills.created")];
    expect(planted.map((declared) => ownershipComplaint({ ...declared, whose: [] }))).toEqual([
      expect.stringMatching(/^GetHeadroom names fund_id, price and does not say whose/),
      expect.stringMatching(/^RotateWebhookSecret names fund_id and does not say whose/),
      expect.stringMatching(/^svc.v1.oms.fills.created names .*order_id.* and does not say whose/),
    ]);
    expect(named("GetHeadroom").map((declared) => ownershipComplaint({ ...declared, whose: ["anyone"] }))).toEqual([
      expect.stringMatching(/^GetHeadroom names fund_id, price, and any token may/),
    ]);
  });

  test("every list, map and free data of a request says how much it may hold", () => {
    expect(unboundedComplaints(requestBounds)).toEqual([]);
    expect(Object.values(requestBounds).flat().length).toBeGreaterThan(50);
  });

  test.each(["ARCHITECTURE.md", "docs/threat-model.md"])("every path named in %s exists", (document) => {
    const named = [...read(document).matchAll(/`([\w.-]+(?:\/[\w.*-]+)*\/?)`/g)]
      .map((match) => match[1] ?? "")
      .filter((path) => path.includes("/") || /\.(ts|md|js|json)$/.test(path));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !path.includes("*") && !existsSync(join(root, path)))).toEqual([]);
  });

  test("every file of a registry folder is in its list", () => {
    for (const [folder, list] of registries()) {
      const text = read(list);
      const missing = readdirSync(join(root, folder), { withFileTypes: true })
        .map((entry) => (entry.isDirectory() ? `./${entry.name}/` : `./${entry.name}`))
        // The bots are no service: compose/bots.ts starts them, in a process of their own.
        .filter((name) => !/\.test\.ts$|\/(index|shape|verb)\.ts$|\/(shared|halts|reference|bots)\/$/.test(name))
        .filter((name) => !text.includes(`"${name}`));
      expect(missing, `${folder} against ${list}`).toEqual([]);
    }
  });

  test("28.6: every table that a migration makes has a line in the list of grants", () => {
    const made = files
      .filter((path) => /^adapters\/postgres\/migrations\/\d.*\.ts$/.test(path))
      .flatMap((path) => [...read(path).matchAll(/^create table (?:if not exists )?(\w+)/gim)].map(([, name]) => name));
    expect(made.length).toBeGreaterThan(60);
    const without = made.filter((name) => !Object.hasOwn(tableGrants, name ?? ""));
    expect(without, "say in adapters/postgres/logins/table-grants.ts who may do what with it").toEqual([]);
  });

  test("no files import each other in a circle", () => {
    const sources = files.filter((path) => /\.(tsx?|js)$/.test(path));
    const imports = sources.map((path) => {
      const targets = judgedAt(path).imports.filter(({ target }) => target.startsWith("."));
      return [path, targets.map(({ target }) => normalize(join(dirname(path), target)))] as const;
    });
    expect(circlesOf(new Map(imports))).toEqual([]);
  });

  test("no folder of product code holds more files than a reader takes in, nor does the root", () => {
    const product = /^(contracts|core|reports|ports|adapters|services|edges|compose|supervisor|verifier)(\/|$)/;
    const counts = new Map<string, string[]>();
    for (const path of files) counts.set(dirname(path), [...(counts.get(dirname(path)) ?? []), path]);
    const crowded = [...counts]
      .filter(([folder, inside]) => product.test(folder) && !listFolders.has(folder) && inside.length > 40)
      .map(([folder, inside]) => `${folder} has ${inside.length} files: give what belongs together a folder`);
    expect(crowded).toEqual([]);
    expect(counts.get(".")?.filter((path) => !path.startsWith("."))?.length).toBeLessThanOrEqual(25);
  });

  test("24.5: the documentation quotes the constants that the code has", () => {
    expect(quotedFigures.map((figure) => figureComplaint(figure, read)).filter(Boolean)).toEqual([]);
  });

  test("every link of the documentation leads to a file", () => {
    const pages = files.filter((path) => /^(docs\/.*|[A-Z]+)\.md$/.test(path));
    const lost = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .map((match) => join(dirname(page), match[1] ?? ""))
        .filter((target) => !existsSync(join(root, target)))
        .map((target) => `${page} links to ${target}`),
    );
    expect(lost).toEqual([]);
  });

  test("every page of the documentation is in docs/README.md", () => {
    const pages = files.filter((path) => /^docs\/[\w-]+\.md$/.test(path)).map((path) => path.slice("docs/".length));
    const index = read("docs/README.md");
    expect(pages.filter((page) => page !== "README.md" && !index.includes(`](${page})`))).toEqual([]);
  });

  test("the lock file names no host", () => {
    const lock = JSON.parse(read("package-lock.json")) as { packages: Record<string, { resolved?: string }> };
    const hosts = Object.values(lock.packages).filter((entry) => entry.resolved?.includes("://"));
    expect(hosts).toEqual([]);
  });

  test("every dependency is pinned exactly and has its line in docs/dependencies.md", () => {
    const manifest = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;
    const all = { ...manifest["dependencies"], ...manifest["optionalDependencies"], ...manifest["devDependencies"] };
    const documented = read("docs/dependencies.md");
    expect(Object.entries(all).filter(([, version]) => !/^(npm:[\w@/-]+@)?\d/.test(version))).toEqual([]);
    expect(Object.keys(all).filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
  });

  test("no file of npm test takes long without a reason", () => {
    expect(costComplaints(readCommitted(), files)).toEqual([]);
  });

  test("what is about money, halts or audit is never run once more", () => {
    const about = realTimeFiles().filter((file) => /halt|audit|ledger|fill|loss/.test(file));
    expect(about.length).toBeGreaterThan(10);
    expect(about.filter((file) => !isNeverRepeated(file))).toEqual([]);
    const sources = files
      .filter((path) => path.endsWith(".test.ts"))
      .map((path) => `${path} ${read(path).toLowerCase()}`);
    expect([...neverRepeated].filter((word) => !sources.some((text) => text.includes(word)))).toEqual([]);
  });

  test("nothing names this machine", () => {
    const machine = /\/w[o]rk\/|\/r[o]ot\/(?!\.\.\.)[a-z]+\/|https?:\/\/(registry|deb|security)\.[a-z]+\.(org|com)/;
    const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
    const guilty = tracked
      .split("\n")
      .filter((path) => path !== "" && existsSync(join(root, path)) && statSync(join(root, path)).size < 1_000_000)
      .filter((path) => machine.test(read(path)));
    expect(guilty).toEqual([]);
  });
});

/** Lists of one shape, one file an entry: they may be as long as the list is. */
const listFolders = new Set(["ports", "adapters/postgres/migrations", "edges/ctl/verbs"]);

/** Folders in which every file must stand in one list. */
function registries(): readonly (readonly [string, string])[] {
  return [
    ["services", "services/index.ts"],
    ["adapters/postgres/migrations", "adapters/postgres/migrations/index.ts"],
    ["edges/gateway/routes", "edges/gateway/routes/index.ts"],
    ["edges/ctl/verbs", "edges/ctl/verbs/index.ts"],
  ];
}

describe("planted violations are caught", () => {
  test("a circle of files", () => {
    const imports = { "a.ts": ["b.ts"], "b.ts": ["c.ts", "d.ts"], "c.ts": ["a.ts"], "d.ts": ["e.ts"], "e.ts": [] };
    expect(circlesOf(new Map(Object.entries(imports)))).toEqual([["a.ts", "b.ts", "c.ts"]]);
  });

  test("a list, a map or free data of a request without a maximum", () => {
    const [list, map] = [
      { number: 1, name: "rows", form: "list" },
      { number: 2, name: "by", form: "map" },
    ] as const;
    const free = { number: 3, name: "data", form: "free", most: 10 } as const;
    expect(unboundedComplaints({ Asked: [list, map, free, { ...list, name: "few", most: 3 }] })).toEqual([
      "Asked.rows may hold any amount: add max_count to its declaration",
      "Asked.by may hold any amount: add max_count to its declaration",
      "Asked.data may hold any amount: add max_length to its declaration",
    ]);
  });

  test("a test that costs everybody much, and does not say why", () => {
    const files = ["a.test.ts", "b.test.ts"];
    const cost = { wall_s: 20, processor_s: 13 };
    expect(costComplaints({ "a.test.ts": cost }, files)).toEqual([expect.stringContaining("13 processor seconds")]);
    expect(costComplaints({ "a.test.ts": { ...cost, reason: "the whole platform, killed" } }, files)).toEqual([]);
    expect(costComplaints({ "a.ci.test.ts": cost }, ["a.ci.test.ts"])).toEqual([]);
    expect(costComplaints({ "gone.test.ts": { wall_s: 1 } }, files)).toEqual([expect.stringContaining("is gone")]);
    expect(costComplaints({ "b.test.ts": { wall_s: 1, platforms: 9 } }, files)).toEqual([
      expect.stringContaining("9 platforms are started"),
    ]);
  });

  test("a figure of the documentation that the code does not have", () => {
    const figure = { document: "a.md", sentence: "at most {} s", source: "a.ts", constant: "waitMsMax", per: 1_000 };
    const reading = (texts: Readonly<Record<string, string>>) => (path: string) => texts[path] ?? "";
    const code = "const waitMsMax = 2 * 60_000;";
    expect(figureComplaint(figure, reading({ "a.md": "Waits at\nmost 120 s.", "a.ts": code }))).toBeUndefined();
    expect(figureComplaint(figure, reading({ "a.md": "at most 12 s", "a.ts": code }))).toMatch(/does not say/);
    expect(figureComplaint(figure, reading({ "a.md": "at most 120 s" }))).toMatch(/has no constant waitMsMax/);
  });

  const header = "// A planted file.\n";
  const planted: readonly (readonly [string, string, string, RegExp])[] = [
    [
      "a page's command that a shell would read further",
      "edges/web/planted.ts",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the planted line has one.
      "export const command = (id: string) => `ctl why ${id}`;",
      /take shell/,
    ],
    [
      "a page that shows a machine's reason as it came",
      "edges/web/planted.tsx",
      "export const Why = ({ halt }: { halt: { reason: string } }) => <p>Halted: {halt.reason ?? 'no reason'}</p>;",
      /reason is somebody else's text/,
    ],
    [
      "a line of ctl that says an actor as it came",
      "edges/ctl/verbs/planted.ts",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the planted line has one.
      "context.terminal.say(`by ${halt.requested_by}`);",
      /requested_by is somebody else's text/,
    ],
    [
      "services to adapters",
      "services/oms/planted.ts",
      'import { x } from "../../adapters/x.ts";',
      /services must not import adapters/,
    ],
    [
      "a lazy import",
      "services/oms/planted.ts",
      'await import("../../adapters/x.ts");',
      /services must not import adapters/,
    ],
    [
      "one service to another",
      "services/oms/planted.ts",
      'import { x } from "../treasury/x.ts";',
      /must not import service treasury/,
    ],
    [
      "a room of the core to one above it",
      "core/money/planted.ts",
      'import { x } from "../engine/x.ts";',
      /core\/money must not import core\/engine, which stands above it/,
    ],
    [
      "a room of the core to one beside it",
      "core/losses/planted.ts",
      'import { x } from "../exposure/x.ts";',
      /core\/losses must not import core\/exposure, which stands beside it/,
    ],
    [
      "a room of the core to one apart",
      "core/engine/planted.ts",
      'import { x } from "../audit/x.ts";',
      /core\/audit stands apart/,
    ],
    [
      "a room of the core without a place",
      "core/novelties/planted.ts",
      'import { x } from "../money/x.ts";',
      /one of them has no place/,
    ],
    ["core to node", "core/planted.ts", 'import { readFileSync } from "node:fs";', /core must not import node:fs/],
    ["core to a package", "core/planted.ts", 'import pino from "pino";', /core must not import the package pino/],
    [
      "contracts to ports",
      "contracts/src/planted.ts",
      'import type { Log } from "../../ports/log.ts";',
      /contracts must not import ports/,
    ],
    [
      "adapters to services",
      "adapters/planted.ts",
      'import { x } from "../services/x.ts";',
      /adapters must not import services/,
    ],
    [
      "the web desks to ctl",
      "edges/web/planted.ts",
      'import { x } from "../ctl/x.ts";',
      /web must not import the face ctl.*edges\/words/,
    ],
    ["edges to core", "edges/gateway/planted.ts", 'import { x } from "../../core/x.ts";', /edges must not import core/],
    [
      "product to testkit",
      "compose/gateway.ts",
      'import { x } from "../testkit/x.ts";',
      /composition must not import testkit/,
    ],
    ["a clock in core", "core/planted.ts", "const now = Date.now();", /Date\.now outside .*take an Instant or a Clock/],
    ["JSON read in another way", "adapters/planted.ts", 'JSON.parse("1");', /take parseJson/],
    ["a date in a service", "services/oms/planted.ts", "const now = new Date();", /take an Instant or a Clock/],
    ["randomness in an adapter", "adapters/planted.ts", "const roll = Math.random();", /take a Random/],
    ["a timer in a service", "services/oms/planted.ts", "setTimeout(() => undefined, 5);", /take Timers/],
    ["async in core", "core/planted.ts", "async function f() {}", /async in core/],
    [
      "a literal subject",
      "services/oms/planted.ts",
      'const s = "svc.v1.oms.orders.created";',
      /contracts\/src\/events/,
    ],
    [
      "a literal subject in a template",
      "adapters/planted.ts",
      `const s = \`svc.v1.oms.\${1}\`;`,
      /contracts\/src\/events/,
    ],
    ["code in ports", "ports/planted.ts", "export const x = 1;", /interfaces and types only/],
    ["a long file", "core/planted.ts", "\n".repeat(500), /more than 400/],
    ["a long function", "core/planted.ts", `function f() {${"\n".repeat(80)}}`, /more than 70/],
    ["a packed literal", "core/planted.ts", "export const x = { ...{ a: 1 }, b: 2 };", /write its members/],
    ["a camelCase file", "core/plantedFile.ts", "", /not kebab-case/],
    [
      "a loop that sleeps",
      "services/oms/planted.ts",
      "async function run() { while (!ending.aborted) { if (x) { await ports.timers.sleep(5); } } }",
      /a loop that sleeps: take startLoop/,
    ],
    [
      "a loop that sleeps by another name",
      "services/oms/planted.ts",
      "const rest = () => timers.sleep(5);\nasync function run() { for (;;) await rest(); }",
      /planted\.ts:3 a loop that sleeps/,
    ],
  ];
  test.each(planted)("%s", (_name, path, text, complaint) => {
    expect(complaintsOn(parseSource(path, header + text))).toMatch(complaint);
  });

  test("a file without an opening comment", () => {
    expect(complaintsOn(parseSource("core/planted.ts", "export const x = 1;\n"))).toMatch(/no opening comment/);
  });

  test("an innocent file has no complaint", () => {
    expect(
      complaintsOn(
        parseSource(
          "services/oms/fine.ts",
          `${header}import type { Log } from "../../ports/log.ts";\nexport type L = Log;\n`,
        ),
      ),
    ).toBe("");
  });
});

describe("real time in tests", () => {
  const unit = "services/oms/planted.test.ts";
  const kit = "testkit/planted.ts";
  const inTest = (inner: string): string => `test("x", async () => { ${inner} });`;
  const timed = (bound: string): string => inTest(`const began = performance.now(); await work(); ${bound}`);
  const sixCodes =
    '["STORE_UNAVAILABLE", "BUS_UNAVAILABLE", "CANCELLED", "BLOCK_NOT_OPEN", "BORROW_STALE", "BORROW_MISSING"]';

  const planted: readonly (readonly [string, string, string, RegExp])[] = [
    [
      "a bound on a difference of performance.now",
      unit,
      timed("expect(performance.now() - began).toBeLessThan(9);"),
      /bound on real/,
    ],
    [
      "one that has a name",
      unit,
      timed("const tookMs = performance.now() - began; expect(tookMs).toBeLessThanOrEqual(9);"),
      /bound on real/,
    ],
    [
      "one said the other way round",
      unit,
      timed("expect(9).toBeGreaterThan(performance.now() - began);"),
      /bound on real/,
    ],
    [
      "one said by its negation",
      unit,
      timed("expect(performance.now() - began).not.toBeGreaterThan(9);"),
      /bound on real/,
    ],
    ["one in a comparison", unit, timed("expect(performance.now() - began < 9).toBe(true);"), /bound on real/],
    [
      "one of Date.now",
      unit,
      inTest("const at = Date.now(); await work(); const end = Date.now(); expect(end - at).toBeLessThan(9);"),
      /bound on real/,
    ],
    [
      "one of the machine's clock",
      unit,
      inTest("const clock = systemClock(); const at = clock.now(); expect(clock.now() - at).toBeLessThan(9);"),
      /bound on real/,
    ],
    [
      "one of a stopwatch",
      unit,
      inTest("const took = stopwatch(); await work(); expect(took()).toBeLessThan(9);"),
      /bound on real/,
    ],
    [
      "one of a function that measures",
      unit,
      "async function took() { const at = Date.now(); await work(); return Date.now() - at; }\ntest('x', async () => expect(await took()).toBeLessThan(9));",
      /bound on real/,
    ],
    [
      "one of the longest of several",
      unit,
      inTest(
        "const all = []; const at = Date.now(); all.push(Date.now() - at); for (const ms of all) expect(ms).toBeLessThan(9);",
      ),
      /bound on real/,
    ],
    ["one in the testkit", kit, timed("expect(performance.now() - began).toBeLessThan(9);"), /bound on real/],
    [
      "a sleep",
      unit,
      inTest("await new Promise((resolve) => setTimeout(resolve, 51));"),
      /a sleep of 51 ms: wait for the state/,
    ],
    [
      "a sleep of node's",
      unit,
      `import { setTimeout as rest } from "node:timers/promises";\n${inTest("await rest(2 * 60);")}`,
      /a sleep of 120 ms/,
    ],
    [
      "a sleep of the testkit's",
      unit,
      `import { pause } from "../../testkit/platform.ts";\n${inTest("await pause(100);")}`,
      /a sleep of 100 ms/,
    ],
    [
      "a sleep of the file's own",
      unit,
      `const nap = (ms: number) => new Promise((done) => setTimeout(done, ms));\n${inTest("await nap(100);")}`,
      /a sleep of 100 ms/,
    ],
    [
      "a sleep by a constant",
      unit,
      `const restMs = 100;\n${inTest("await systemTimers().sleep(restMs);")}`,
      /a sleep of 100 ms/,
    ],
    [
      "a sleep in every round",
      unit,
      `import { pause } from "../../testkit/platform.ts";\n${inTest("for (let n = 0; n < 3; n += 1) await pause(100);")}`,
      /a sleep of 100 ms/,
    ],
    [
      "a sleep of a fixture",
      unit,
      `import { pass } from "../../testkit/conformance/waiting.ts";\n${inTest("await pass(fixture, 100);")}`,
      /a sleep of 100 ms/,
    ],
    [
      "a sleep of a browser",
      "edges/planted.long.test.ts",
      inTest("await page.waitForTimeout(100);"),
      /a sleep of 100 ms/,
    ],
    [
      "a sleep with a reason where everybody waits for it",
      unit,
      inTest("// tidy: sleeps because I say so\nawait systemTimers().sleep(100);"),
      /a sleep of 100 ms/,
    ],
    ["a sleep in the testkit", kit, "export const x = () => systemTimers().sleep(100);", /a sleep of 100 ms/],
    ["a bare fetch", unit, inTest("await fetch(url);"), /bare fetch: take fetchOnNewConnection/],
    ["a bare fetch that is handed on", unit, inTest("createClient({ fetch });"), /bare fetch/],
    ["a bare fetch by its full name", kit, "export const ask = () => globalThis.fetch(url);", /bare fetch/],
    ["a bare fetch in a long test", "edges/planted.long.test.ts", inTest("await fetch(url);"), /bare fetch/],
    ["an agent", unit, inTest("const agent = new Agent();"), /new Agent: take keptConnections/],
    ["an agent by its full name", unit, inTest("const agent = new http.Agent({});"), /new Agent/],
    ["a kept connection", unit, inTest("const options = { keepAlive: true };"), /keepAlive: take keptConnections/],
    [
      "what was printed, looked at once",
      unit,
      inTest('expect(platform.stdout()).toContain("x");'),
      /expect\(platform\.stdout\(\)\) looks once.*take expect\.poll/,
    ],
    [
      "what was printed to both",
      unit,
      inTest('expect(platform.stdout() + platform.stderr()).toContain("x");'),
      /looks once/,
    ],
    ["six codes", unit, `const codes = ${sixCodes};`, /6 names by hand that stand in everyCode\(\)/],
    [
      "six codes in two rows",
      unit,
      `const codes = [...${sixCodes.replace(', "BORROW_MISSING"', "")}, ...["BORROW_MISSING"]];`,
      /6 names by hand/,
    ],
    [
      "another within",
      kit,
      "export const within = (ms: number) => ms;",
      /another `within`: take the one of testkit\/platform\.ts/,
    ],
  ];
  test.each(planted)("%s is refused", (_name, path, text, complaint) => {
    expect(complaintsOn(parseSource(path, `// A planted file.\n${text}`))).toMatch(complaint);
  });

  const innocent: readonly (readonly [string, string, string])[] = [
    [
      "a bound on the second floor",
      "services/oms/planted.ci.test.ts",
      timed("expect(performance.now() - began).toBeLessThan(9);"),
    ],
    ["a lower bound", unit, timed("expect(performance.now() - began).toBeGreaterThan(9);")],
    [
      "a bound in virtual time",
      unit,
      inTest("const at = time.clock.now(); expect(time.clock.now() - at).toBeLessThan(9);"),
    ],
    [
      "an instant that lies before another",
      unit,
      inTest("const at = Date.now(); await work(); expect(at).toBeLessThanOrEqual(Date.now());"),
    ],
    [
      "a poll",
      unit,
      `import { pause } from "../../testkit/platform.ts";\n${inTest("while (!(await isThere())) await pause(100);")}`,
    ],
    [
      "a poll with a bound",
      unit,
      inTest("for (let n = 0; n < 9 && !isThere(); n += 1) await systemTimers().sleep(100);"),
    ],
    ["the bound of a race", unit, inTest("await Promise.race([come, systemTimers().sleep(100)]);")],
    ["a sleep in virtual time", unit, inTest("await time.timers.sleep(60_000);")],
    ["a timer that ends something", unit, inTest("setTimeout(() => child.kill(), 15_000);")],
    [
      "a sleep with its reason in a long test",
      "edges/planted.long.test.ts",
      inTest("// tidy: sleeps because a siege lasts\nawait systemTimers().sleep(100);"),
    ],
    ["a fetch of its own", unit, inTest("const fetch = scripted(); createClient({ fetch });")],
    ["the type of fetch", unit, inTest("const scripted: typeof fetch = () => answer;")],
    ["fetch in the product", "edges/planted.ts", "export const ask = () => fetch(url);"],
    [
      "what was printed, looked at again and again",
      unit,
      inTest(
        'await expect.poll(() => platform.stdout()).toContain("x"); await eventually("x", () => { expect(one.stderr()).toBe(""); return true; });',
      ),
    ],
    ["what was never printed", unit, inTest('expect(platform.stdout()).not.toContain("x");')],
    ["five codes", unit, `const codes = ${sixCodes.replace(', "BORROW_MISSING"', "")};`],
    ["six names of several lists", unit, `const names = ${sixCodes.replace("BORROW_MISSING", "a name")};`],
    ["six names in the product", "services/oms/planted.ts", `export const names = ${sixCodes};`],
  ];
  test.each(innocent)("%s is let pass", (_name, path, text) => {
    expect(complaintsOn(parseSource(path, `// An innocent file.\n${text}`))).toBe("");
  });
});
