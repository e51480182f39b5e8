// The list of verbs: nothing is missing from it, everything in it can be read, parsed and completed, and heavy libraries wait until needed.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import picocolors from "picocolors";
import { describe, expect, it } from "vitest";
import { isOperation } from "../../../contracts/src/authority.ts";
import { globalOptions, helpPage, parseCommandLine } from "../program.ts";
import { reasonOption } from "../reason.ts";
import { suggestions } from "../suggest.ts";
import { groupsOf } from "../verb-groups.ts";
import { verbs } from "./index.ts";

const groups = groupsOf(verbs);
const grammar = { verbs, groups };
const plain = picocolors.createColors(false);
const parse = (line: string) => parseCommandLine(line.split(" ").slice(1), grammar, plain);

describe("the list", () => {
  it("has every file of this folder", () => {
    const list = readFileSync(join(import.meta.dirname, "index.ts"), "utf8");
    const files = readdirSync(import.meta.dirname).filter((name) => !/^(index|verb)\.ts$|\.test\.ts$/.test(name));
    expect(files.filter((name) => !list.includes(`"./${name}"`))).toEqual([]);
    expect(files.map((name) => name.replace(/\.ts$/, "")).sort()).toEqual(
      verbs.map(({ name }) => name.replaceAll(" ", "-")).sort(),
    );
  });

  it("names each verb once, and no group that is also a verb", () => {
    const names = [...verbs.map(({ name }) => name), ...Object.keys(groups)];
    expect(new Set(names).size).toBe(names.length);
  });

  it("has no option that every command has already", () => {
    const taken = new Set([...globalOptions.map(({ name }) => name), "help"]);
    expect(verbs.flatMap(({ options }) => options.filter(({ name }) => taken.has(name)))).toEqual([]);
  });

  it("leaves --version to ctl itself, but for verbs that are about versions", () => {
    const versioned = verbs.filter(({ options }) => options.some(({ name }) => name === "version"));
    expect(versioned.map(({ name }) => name)).toEqual(["riskengine envelope show"]);
    expect(parse("ctl riskengine envelope show --fund-id alpha --version 3")).toMatchObject({ kind: "verb" });
    expect(parse("ctl riskengine envelope history --fund-id alpha --version")).toEqual({ kind: "version" });
  });

  it("takes a reason for every change of the platform's state; logins and processes of one's own need none", () => {
    const own = ["up", "down", "auth login", "auth logout", "auth enrol-totp"];
    // It writes only what follows from the entries, which is the same for every reason.
    const derived = ["operations audit fsck"];
    const without = verbs.filter(({ changesState, options }) => changesState && !options.includes(reasonOption));
    expect(without.map(({ name }) => name)).toEqual([...own, ...derived]);
  });

  it("names operations that exist", () => {
    expect(verbs.filter(({ operation }) => operation !== undefined && !isOperation(operation))).toEqual([]);
  });
});

describe.each(verbs.map((verb) => [verb.name, verb] as const))("%s", (name, verb) => {
  it("has a sentence, and so has everything it takes", () => {
    const all = [verb, ...verb.arguments, ...verb.options];
    for (const { sentence } of all) expect(sentence).toMatch(/^[A-Za-z0-9`].{8,}\.$/);
    for (const { sentence } of verb.examples) expect(sentence.length).toBeGreaterThan(5);
    expect(verb.examples.length).toBeGreaterThan(0);
  });

  it("has examples that parse as this verb", () => {
    for (const { command } of verb.examples) {
      expect(parse(command), command).toMatchObject({ kind: "verb", verb: { name } });
    }
  });

  it("has a help page with its sentence, options, examples and the options of every command", () => {
    const page = helpPage(name.split(" "), grammar, plain) ?? "";
    expect(page).toContain(verb.sentence.split(" ").slice(0, 4).join(" "));
    for (const option of [...verb.options, ...globalOptions]) expect(page).toContain(`--${option.name}`);
    for (const { command } of verb.examples) expect(page).toContain(command);
    expect(parse(`ctl ${name} --help`)).toMatchObject({ kind: "help", text: page });
  });

  it("hands on every argument and option as typed, wherever the common options stand", () => {
    const words = verb.arguments.flatMap(({ values, many }, at) =>
      many === true ? ["a", "b"] : [values?.[0] ?? `word${at}`],
    );
    const given = verb.options.flatMap(({ name: option, value, values }) =>
      value === undefined ? [`--${option}`] : [`--${option}`, values?.[0] ?? "v1"],
    );
    const line = ["ctl", "--json", ...name.split(" "), ...given, ...words, "--profile", "p", "--server", "http://x"];
    const parsed = parse(line.join(" "));
    if (parsed.kind !== "verb") throw new Error(JSON.stringify(parsed));
    expect(parsed.typed).toMatchObject({ json: true, flags: { profile: "p", server: "http://x" } });
    for (const { name: option, value, values } of verb.options) {
      expect(parsed.typed.options[option], option).toEqual(value === undefined ? true : [values?.[0] ?? "v1"]);
    }
    expect(Object.values(parsed.typed.arguments).flat()).toEqual(words);
  });

  it("refuses an option it does not have, a value it lacks, and a word too many", () => {
    expect(parse(`ctl ${name} --nonesuch`)).toMatchObject({ kind: "wrong", refusal: { exit: 2 } });
    expect(parse(`ctl ${name} --server`)).toMatchObject({ kind: "wrong", refusal: { exit: 2 } });
    if (verb.arguments.some(({ many }) => many === true)) return;
    const words = verb.arguments.map(({ values }) => values?.[0] ?? "w");
    const needed = verb.options.filter(({ required }) => required === true).map((option) => `--${option.name}=v`);
    const line = ["ctl", ...name.split(" "), ...needed, ...words, "too-many"].join(" ");
    expect(parse(line)).toMatchObject({ kind: "wrong", refusal: { exit: 2 } });
  });
});

describe("what is not there", () => {
  it.each([
    ["auth lgin", "auth login"],
    ["login", "auth login"],
    ["whoami", "auth whoami"],
    ["docter", "doctor"],
    ["auth tokens lst", "auth tokens list"],
    ["auth token list", "auth tokens list"],
    ["tokens", "auth tokens"],
    ["pu", "up"],
  ])("%s is near %s", (typed, meant) => {
    expect(suggestions(typed.split(" "), grammar)[0]).toBe(meant);
    expect(parse(`ctl ${typed}`)).toMatchObject({
      kind: "wrong",
      refusal: { hint: expect.stringContaining(`ctl ${meant}`) },
    });
  });

  it("is near nothing when it resembles nothing", () => {
    expect(suggestions(["xyzzy"], grammar)).toEqual([]);
  });

  it("an option resembles another one", () => {
    expect(parse("ctl up --detch")).toMatchObject({ kind: "wrong", refusal: { hint: "Did you mean --detach?" } });
  });
});

it("a switch that is not given is off, a default stands in, commas and repeats add up", () => {
  const parsed = parse("ctl auth tokens issue oms --operation A,B --operation C");
  expect(parsed).toMatchObject({ typed: { options: { operation: ["A", "B", "C"], "expires-in": ["90d"] } } });
  const login = parse("ctl auth login");
  expect(login).toMatchObject({ kind: "verb", typed: { options: {}, json: false } });
});

it("help marks an option that must be given", () => {
  const page = helpPage(["operations", "audit", "show"], grammar, plain)?.replaceAll(/\s+/g, " ");
  expect(page).toContain("an order id, a fund id, a path. (required)");
});

it("heavy libraries are imported only where they are used", () => {
  const folder = join(import.meta.dirname, "..");
  const files = [...readdirSync(folder), ...readdirSync(import.meta.dirname).map((name) => join("verbs", name))];
  const heavy =
    /^import (?!type ).*from "(openid-client|uqr|cli-table3|zod|jose|[./]*contracts\/src\/(authority|codes|index)\.ts|.*client\/src\/(client|index)\.ts)";/m;
  const eager = files
    .filter((name) => /\.ts$/.test(name) && !/\.test\.ts$|^(reference|fakes)\.ts$/.test(name))
    .filter((name) => heavy.test(readFileSync(join(folder, name), "utf8")));
  expect(eager).toEqual([]);
});
