// A slip in the YAML is reported in words, at the line where it was made, and without a word of the file.
import { expect, it } from "vitest";
import { complaints } from "../../testkit/configuration/loading.ts";
import { complaintLine } from "./complaint.ts";

it.each<[text: string, line: number, found: string]>([
  ["http: {port: 1", 1, "a { without its }"],
  ["http: {port: 1\n", 1, "a { without its }"],
  ["http: {port: 1\n\n\n\n", 1, "a { without its }"],
  ["http: {port: 1\nlog: {level: info}\n", 1, "a { without its }"],
  ["\n{http: {port: 1}\n", 2, "a { without its }"],
  ["log: {}\nservices: [oms,\n  gateway\n", 2, "a [ without its ]"],
  ['log:\n  level: "info\n', 2, "a quote that is never closed"],
  ["log:\n  level: 'info\nhttp:\n  port: 1\n", 2, "a quote that is never closed"],
  ["http:\n  port: 1\n host: a\n", 3, "a key that is not in line with the others"],
  ["http:\n  port: 1\n   host: a\n", 3, "a key where a value has begun already"],
  ["http: port: 1\n", 1, "a key where a value has begun already"],
  ["http:\n  port: 1\n  host\n", 3, "a key without a colon"],
  ["log: {}\nport:1\nhttp: {}\n", 2, "a line that is no key with its value"],
  ["services:\n  - oms\n - gateway\n", 3, "a list item that is not in line with the others"],
  ["services: [oms,, gateway]\n", 1, "a comma too many"],
  ["http: {port: 1 host: a}\n", 1, "brackets whose members run together"],
  ["http: {port: 1}}\n", 1, "a closing bracket that nothing opened"],
  ["data_dir: @home\n", 1, "a value that begins with a reserved character"],
  ["data_dir: 'it's'\n", 1, "something behind the end of a value"],
  ['data_dir: "C:\\portcullis"\n', 1, "an unknown backslash sequence in double quotes"],
  ["log: {}\nhttp: *nobody\n", 2, "an alias without an anchor"],
  ["http: *later\nlog: &later {}\n", 1, "an alias without an anchor"],
  ["http: *\n", 1, "an alias or anchor without a proper name"],
])("%j", (text, line, found) => {
  const lines = complaints(text).map(complaintLine);
  expect(lines).toHaveLength(1);
  expect(lines[0]?.startsWith(`p.yaml:${line}: found ${found}, expected `)).toBe(true);
  expect(lines[0]).not.toMatch(/[A-Z]{3,}_/);
});

it("tells each of several slips", () => {
  expect(complaints("a: *x\nb: *y\n").map(({ where }) => where)).toEqual(["p.yaml:1", "p.yaml:2"]);
  expect(complaints("http: {port: 1\nlog: {level: info\n").map(({ where }) => where)).toEqual(["p.yaml:1", "p.yaml:2"]);
});

it.each([
  "@%s",
  "*%s",
  "'a' %s",
  '"\\%s"',
  "|%s",
  "[%s",
  "{%s",
  '"%s',
  "&a &%s x",
  "!%s x",
  "%s: b: c",
  "`%s",
  "}%s",
  "%%%s",
])("does not quote what stands in the file: secrets: {…: %s", (form) => {
  const planted = "Pl4nted-s3cr3t";
  const text = `secrets:\n  passphrase: ${form.replace("%s", planted)}\n`;
  const found = complaints(text);
  expect(found.length).toBeGreaterThan(0);
  expect(found.map(complaintLine).join("\n")).not.toContain(planted);
});
