// Nothing changes state behind the audit log's back: the register of units of work against every place in the source that runs one or writes to the
// database by itself, and the rule that the stores ask before a commit.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { auditActions, ownActions } from "../../contracts/src/audit-actions.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { auditActionsDocument } from "../../scripts/documents/audit-actions.ts";
import { migrations } from "../postgres/migrations/index.ts";
import { unauditedChange, unitsOfWork } from "./state-changes.ts";
import { otherWriters, unauditedRecords } from "./unaudited-records.ts";

const root = join(import.meta.dirname, "..", "..");
const isSource = (path: string): boolean =>
  path.endsWith(".ts") &&
  !/\.test\.ts$|(^|\/)test-[a-z-]+\.ts$|^adapters\/(memory\/|records\/(audited-changes|state-changes|unaudited-records))|\/migrations\//.test(
    path,
  );
const files = ["services", "adapters", "edges", "compose", "supervisor"]
  .flatMap((room) => readdirSync(join(root, room), { recursive: true }).map((name) => `${room}/${String(name)}`))
  .concat(readdirSync(root))
  .filter(isSource);
const sources = new Map(files.map((path) => [path, readFileSync(join(root, path), "utf8")]));

/** Where a unit of work is run: with its name as a text, or as a text with a hole in it. */
const callForm =
  /\b(?:transact|transactSql|transactToKnownEnd)(?:<[^>]*>)?\(\s*(?:[\w.]+,\s*)?(?:"([^"]+)"|`([^`]+)`|(\w+))/g;
/** These hand a name on that somebody else gave them. */
const passesOn = new Set(["adapters/postgres/store.ts", "services/shared/unknown-outcome.ts"]);
const writeForm = /\b(?:insert\s+into|delete\s+from|(?<!\b(?:for|do|key)\s+)update)\s+(?!set\b)[a-z_$]+/i;

function calls(): { path: string; form: RegExp; text: string }[] {
  return [...sources].flatMap(([path, source]) =>
    [...source.matchAll(callForm)].map(([text, name, template, variable]) => {
      if (variable !== undefined && !passesOn.has(path)) throw new Error(`${path}: name the unit of work in ${text}`);
      const pattern = (name ?? template ?? "").split(/\$\{[^}]*\}/).map((part) => part.replaceAll(".", "\\."));
      return { path, text, form: new RegExp(`^${pattern.join("[a-z_]+")}$`) };
    }),
  );
}

describe("the register of what changes state", () => {
  it("has every unit of work that the source runs, and no other", () => {
    const found = calls().filter(({ path }) => !passesOn.has(path));
    expect(found.length).toBeGreaterThan(35);
    const names = Object.keys(unitsOfWork);
    expect(found.filter(({ form }) => !names.some((name) => form.test(name)))).toEqual([]);
    expect(names.filter((name) => !found.some(({ form }) => form.test(name)))).toEqual([]);
  });

  it("has every file that writes to the database outside of a unit of work", () => {
    const inUnit = /\bsql\.write\(|\bsql: Sql\b/;
    const writers = [...sources].filter(
      ([path, source]) => path.startsWith("adapters/") && writeForm.test(withoutComments(source)),
    );
    const beside = writers.filter(([, source]) => !inUnit.test(source)).map(([path]) => path);
    expect(beside.filter((path) => !Object.hasOwn(otherWriters, path))).toEqual([]);
    expect(Object.keys(otherWriters).filter((path) => !sources.has(path))).toEqual([]);
  });

  it("names only subjects that become entries, tables that exist, and says why in sentences", () => {
    for (const [name, rule] of Object.entries(unitsOfWork)) {
      if ("unaudited" in rule) expect(rule.unaudited, name).toMatch(/^[A-Z].*\.$/);
      else for (const key of rule.tells) expect(auditActions[key], `${name}: ${key}`).toHaveProperty("actions");
    }
    const made = migrations.flatMap(({ sql }) => [...sql.matchAll(/create table (\w+)/g)].map(([, table]) => table));
    for (const [record, why] of Object.entries(unauditedRecords)) {
      expect(made, record).toContain(record.split(" ").at(-1));
      expect(why).toMatch(/^[A-Z].*\.$/);
    }
    const actions = Object.values(auditActions).flatMap((rule) => ("actions" in rule ? rule.actions : []));
    expect(Object.keys(ownActions).filter((action) => actions.includes(action))).toEqual([]);
    expect(auditActionsDocument()).toContain("| `session.opened` | `svc.v1.identity.session.opened` |");
  });
});

describe("unauditedChange", () => {
  const published = (...keys: (keyof typeof subjects)[]) => new Set(keys.map((key) => subjects[key].name));

  it("lets through what is audited, what need not be, and what changes nothing", () => {
    expect(unauditedChange("risk.halt", new Set(["insert halt"]), published("riskHaltRequested"))).toBeUndefined();
    expect(unauditedChange("treasury.fill", new Set(["insert treasury_holding"]), new Set())).toBeUndefined();
    expect(unauditedChange("lease.renew", new Set(["update service_instance"]), new Set())).toBeUndefined();
    expect(unauditedChange("never.heard.of", new Set(["insert handled_event"]), new Set())).toBeUndefined();
    expect(unauditedChange("never.heard.of", new Set(), new Set())).toBeUndefined();
  });

  it("complains of a change that no event tells of, or only one that is no entry or tells of something else", () => {
    const halt = new Set(["insert halt"]);
    expect(unauditedChange("risk.halt", halt, new Set())).toContain("publishes none of riskHaltRequested");
    expect(unauditedChange("risk.halt", halt, published("gatePassed", "alarmRaised"))).toContain("insert halt");
    expect(unauditedChange("lease.renew", new Set(["insert service_instance"]), new Set())).toContain("serviceStarted");
  });

  it("complains of a unit of work that is not in the register, whatever it publishes", () => {
    const complaint = unauditedChange("never.heard.of", new Set(["insert halt"]), published("riskHaltRequested"));
    expect(complaint).toContain("state-changes.ts");
    expect(unauditedChange("toString", new Set(["insert halt"]), new Set())).toContain("state-changes.ts");
  });
});

function withoutComments(source: string): string {
  return source.replaceAll(/^\s*(\/\/|\*|\/\*\*).*$/gm, "");
}
