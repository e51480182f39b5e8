// What the house counts, on planted houses: each thing that is held turns it red where it is built in.
import { describe, expect, it } from "vitest";
import { houseOf } from "./house.ts";
import { exportsOf, importedNames } from "./imported-names.ts";

const sound = {
  "main.ts": 'import { start } from "./services/oms/oms.ts";\nstart();\n',
  "services/oms/oms.ts":
    'import { judge } from "../../core/engine/engine.ts";\nexport function start() {\n  judge();\n}\n',
  "core/engine/engine.ts": 'import { sum } from "../money/amount.ts";\nexport const judge = () => sum(1);\n',
  "core/money/amount.ts": "export const sum = (one: number) => one;\n",
};

const found = (planted: Readonly<Record<string, string>>, name: RegExp): readonly string[] =>
  houseOf(new Map(Object.entries({ ...sound, ...planted }))).held.find((held) => name.test(held.name))?.found ?? [
    "absent",
  ];

describe("the house", () => {
  it("counts files and lines of the product by room, and nothing of a sound one is held against it", () => {
    const { rooms, held } = houseOf(new Map(Object.entries({ ...sound, "core/money/amount.test.ts": "test();\n" })));
    expect(rooms).toContainEqual({ room: "core", files: 2, lines: 3 });
    expect(held.filter((one) => one.found.length > one.most)).toEqual([]);
  });

  it("sees rooms of the core that import each other", () => {
    const planted = {
      "core/money/amount.ts": 'import { judge } from "../engine/engine.ts";\nexport const sum = judge;\n',
    };
    expect(found(planted, /pairs of rooms/)).toEqual(["core/engine and core/money"]);
  });

  it("sees a loop that waits by itself, and not one that only counts", () => {
    const loop = (body: string) => `export function start() {\n  while (true) {\n    ${body}\n  }\n}\n`;
    const planted = (body: string) => ({ "services/oms/oms.ts": loop(body) });
    expect(found(planted("await ports.timers.sleep(5, ending.signal);"), /loops/)).toEqual(["services/oms/oms.ts:2"]);
    expect(found(planted("count += 1;"), /loops/)).toEqual([]);
  });

  it("sees a file that no program reaches, also when a test does", () => {
    const planted = {
      "core/money/old.ts": "export const old = 1;\n",
      "core/money/old.test.ts": 'import { old } from "./old.ts";\n',
    };
    expect(found(planted, /no program reaches/)).toEqual(["core/money/old.ts"]);
  });

  it("sees an export that nobody takes; what a test takes, or somebody takes as a whole, is taken", () => {
    const planted = { "core/money/amount.ts": "export const sum = 1;\nexport interface Half {}\n" };
    expect(found(planted, /exports/)).toEqual(["core/money/amount.ts Half"]);
    const test = { ...planted, "core/money/amount.test.ts": 'import type { Half } from "./amount.ts";\n' };
    expect(found(test, /exports/)).toEqual([]);
    const whole = { ...planted, "core/engine/more.ts": 'import * as amount from "../money/amount.ts";\n' };
    expect(found(whole, /exports/)).toEqual([]);
  });

  it("sees a sentence that a rename broke", () => {
    const planted = { "docs/a.md": `The operator is ${"reported"} the number.\n` };
    expect(found(planted, /grammar/)).toEqual([expect.stringContaining("docs/a.md:1")]);
  });

  it("counts routes with behaviour of their own and small files that one file imports", () => {
    expect(found({ "contracts/proto/svc/v1/a.proto": "custom: true\ncustom: true\n" }, /routes/)).toHaveLength(2);
    expect(found({}, /one file imports/)).toContain("core/money/amount.ts");
  });
});

describe("the names that files import", () => {
  it("are read from every form of an import", () => {
    const text = [
      'import one, { type Two, three as four } from "./a.ts";',
      'import type { Five } from "./a.ts";',
      'export { six } from "./a.ts";',
      'import "./b.ts";',
      'const c = await import("./c.ts");',
    ].join("\n");
    const { imports, taken } = importedNames(new Map([["core/x.ts", text]]));
    expect([...(imports.get("core/x.ts") ?? [])].sort()).toEqual(["core/a.ts", "core/b.ts", "core/c.ts"]);
    expect([...(taken.get("core/a.ts") ?? [])].sort()).toEqual(["Five", "Two", "default", "six", "three"]);
    expect([...(taken.get("core/c.ts") ?? [])]).toEqual(["*"]);
  });

  it("and those that a file exports, whatever they are", () => {
    const text =
      "export const a = 1;\nexport async function b() {}\nexport interface C {}\nexport type D = 1;\nconst e = 2;\n";
    expect(exportsOf(text)).toEqual(["a", "b", "C", "D"]);
  });
});
