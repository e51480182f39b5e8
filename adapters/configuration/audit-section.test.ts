// The section `audit`: witnesses that cannot be used are found when the configuration is read, and the complaint says which setting and what to do.
import { expect, it } from "vitest";
import { logSigner, witnessSigner } from "../../testkit/audit/keys.ts";
import { complaints, valid } from "../../testkit/configuration/loading.ts";
import { complaintLine } from "./complaint.ts";

const [one, two] = [1, 2].map((seed) => `http://w${seed}.example:8091/ ${witnessSigner(`w${seed}`, seed).key.vkey}`);
const lines = (text: string | undefined, environment = {}): string[] =>
  complaints(text, environment).map(complaintLine);

it("takes as many witnesses needed as there are, from a file and from the environment", () => {
  const { audit } = valid(`audit: {witnesses: ["${one}", "${two}"], witnesses_needed: 2}`).configuration;
  expect(audit).toMatchObject({ witnesses: [one, two], witnesses_needed: 2 });
  const environment = { PORTCULLIS_AUDIT_WITNESSES: `${one},${two}`, PORTCULLIS_AUDIT_WITNESSES_NEEDED: "2" };
  expect(valid(undefined, environment).configuration.audit).toEqual(audit);
});

it("complains about more needed than there are", () => {
  const expected = /^audit\.witnesses_needed .*names (\d); name more or need fewer$/;
  for (const [text, count] of [
    [`audit: {witnesses: ["${one}", "${two}"], witnesses_needed: 3}`, "2"],
    ["audit: {witnesses_needed: 2}", "0"],
  ] as const) {
    const [line = "", ...others] = lines(text);
    expect(others).toEqual([]);
    expect(expected.exec(line)?.[1]).toBe(count);
  }
  const environment = { PORTCULLIS_AUDIT_WITNESSES: one, PORTCULLIS_AUDIT_WITNESSES_NEEDED: "2" };
  const [line = ""] = lines(undefined, environment);
  expect(line).toMatch(/audit\.witnesses_needed .*PORTCULLIS_AUDIT_WITNESSES_NEEDED.*names 1/);
});

it("complains about a vkey that is none or a log's, and about a witness that stands there twice", () => {
  const isNone = /^audit\.witnesses\[1\] .*a witness's vkey, as `ctl operations audit witness` prints it$/;
  for (const vkey of ["w+1a2b3c4d+AQ", logSigner("log", 3).key.vkey]) {
    const found = lines(`audit: {witnesses: ["${one}", "http://w.example/ ${vkey}"]}`);
    expect(found).toEqual([expect.stringMatching(isNone)]);
  }
  const twice = lines(`audit: {witnesses: ["${one}", "${two}", "${one}"]}`);
  expect(twice).toEqual([expect.stringMatching(/^audit\.witnesses\[2\] .*every witness once/)]);
});
