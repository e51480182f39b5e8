// What is shown of a configuration: every value with its source, no secret ever, and no exception whatever the file holds.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { complaints, load, valid } from "../../testkit/configuration/loading.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { complaintLine } from "./complaint.ts";
import { printConfiguration } from "./print-configuration.ts";

describe("secrets", () => {
  const planted = "Pl4nted-s3cr3t";

  it.each([
    [`secrets: {passphrase: ${planted}}`, "PORTCULLIS_SECRETS_PASSPHRASE"],
    [`secrets: {vault: {token: ${planted}}}`, "PORTCULLIS_VAULT_TOKEN"],
    [`secrets: {vault: {secret_id: [${planted}]}}`, "PORTCULLIS_VAULT_SECRET_ID"],
    [`database: {url: "postgres://u:${planted}@h/d"}`, "PORTCULLIS_DATABASE_URL"],
    [`database: {url: "postgres://u@h/d?password=${planted}"}`, "PORTCULLIS_DATABASE_URL"],
    [`database: {url: "postgres://u:1/${planted}@h/d"}`, "PORTCULLIS_DATABASE_URL"],
    [`bus: {url: "tls://${planted}@h:4222"}`, "PORTCULLIS_BUS_URL"],
    [`bus: {url: "tls://a,tls://u:${planted}@h:4222"}`, "PORTCULLIS_BUS_URL"],
  ])("are not taken from the file: %s", (text, variable) => {
    const found = complaints(text);
    expect(found).toHaveLength(1);
    expect(found[0]?.expected).toContain(variable);
    expect(found[0]?.expected).toContain("environment only");
    expect(JSON.stringify(found)).not.toContain(planted);
  });

  it.each([
    `secrets: {passphrse: ${planted}}`,
    `secrets: {vault: {tokn: ${planted}}}`,
    `database: {ulr: "postgres://u:${planted}@h/d"}`,
    `api_key: ${planted}`,
    `data_dir: {password: ${planted}}`,
    `log: {level: "postgres://u:${planted}@h/d"}`,
    `database: {url: "${planted}"}`,
  ])("are not shown when something is wrong with them: %s", (text) => {
    const found = complaints(text);
    expect(found).toHaveLength(1);
    expect(JSON.stringify(found)).not.toContain(planted);
  });

  it("are not shown when they come from the environment, right or wrong", () => {
    const wrong = complaints(undefined, {
      PORTCULLIS_DATABASE_URL: `mysql://u:${planted}@h`,
      PORTCULLIS_SECRETS_PASSPHRASE: planted.repeat(100),
      PORTCULLIS_VAULT_TOKE: planted,
    });
    expect(wrong).toHaveLength(3);
    expect(JSON.stringify(wrong)).not.toContain(planted);
    const { configuration, sources } = valid(undefined, {
      PORTCULLIS_DATABASE_URL: `postgres://u:${planted}@db:5432/d`,
      PORTCULLIS_BUS_URL: `tls://${planted}@bus:4222`,
      PORTCULLIS_SECRETS_PASSPHRASE: planted,
      PORTCULLIS_VAULT_TOKEN: planted,
    });
    expect(configuration.secrets.passphrase).toBe(planted);
    const printed = printConfiguration(configuration, sources);
    expect(printed).not.toContain(planted);
    expect(printed).toContain("# passphrase: present, not shown; environment PORTCULLIS_SECRETS_PASSPHRASE");
    expect(printed).toContain(
      "# url: present, credentials not shown, server tls://bus:4222; environment PORTCULLIS_BUS_URL",
    );
    expect(printed).toContain("# secret_id: absent");
  });
});

describe("printing", () => {
  it("shows every value with its source, and can be read back", () => {
    const text = `
http: {port: 0}
data_dir: "/srv/# odd: path"
funds:
  - fund_id: "007"
    compliance: {cat_enabled: true, cat_subscriber_id: "yes"}
  - fund_id: b
reports:
  schedule:
    "1e3": {report: nav_report, cron: "0 6 * * MON-FRI", funds: [b, "12"], distribute: [email]}
bus: {url: "tls://a:1,tls://b:2"}
`;
    const { configuration, sources } = valid(text, { PORTCULLIS_GRPC_PORT: "0" });
    const printed = printConfiguration(configuration, sources);
    expect(printed).toContain("  port: 0 # p.yaml:2\n");
    expect(printed).toContain("  public_port: 8081 # default\n");
    expect(printed).toContain("  port: 0 # environment PORTCULLIS_GRPC_PORT\n");
    expect(printed).toContain('data_dir: "/srv/# odd: path" # p.yaml:3\n');
    expect(valid(printed).configuration).toEqual(configuration);
    const standard = valid(undefined);
    const again = valid(printConfiguration(standard.configuration, standard.sources));
    expect(again.configuration).toEqual(standard.configuration);
  });
});

describe("mutations of a valid file", () => {
  const base = `
http: {port: 8080, public_port: 8081, host: 127.0.0.1}
database: {url: "postgres://u@h/d"}
services: [oms, gateway]
funds:
  - fund_id: alpha
    compliance: &c {cat_enabled: true, cat_subscriber_id: S1}
  - {fund_id: beta, compliance: *c}
reports:
  schedule:
    nightly-nav: {cron: "*/5 0-6 1,15 JAN-DEC *", distribute: [chat, email]}
secrets:
  backend: vault
  vault: {addr: "https://v:8200", namespace: n}
`;
  const junk = [
    "\t",
    "\u0000",
    "&a",
    "*c",
    "<<: *c",
    "- ",
    ": ",
    "? ",
    "{",
    "]",
    "'",
    '"',
    "|\n",
    "---\n",
    "!!int ",
    "%YAML 1.1\n",
    "~",
  ];
  junk.push(
    "__proto__: 1\n",
    "constructor: {prototype: 1}\n",
    "1e999",
    "0x1F",
    ".nan",
    "\ud800",
    "#",
    "\r",
    "toString",
    "length",
  );
  const mutation = fc.record({
    at: fc.nat(base.length),
    cut: fc.integer({ min: 0, max: 12 }),
    put: fc.oneof(fc.constantFrom(...junk), fc.string({ maxLength: 6 }), fc.constant("")),
  });

  it("are a configuration or complaints, never an exception", () => {
    const seed = 20_261_115;
    const environment = { PORTCULLIS_VAULT_TOKEN: "t" };
    expect(complaints(base, environment)).toEqual([]);
    let rightCount = 0;
    let wrongCount = 0;
    fc.assert(
      fc.property(fc.array(mutation, { maxLength: 4 }), (mutations) => {
        const text = mutations.reduce((now, { at, cut, put }) => now.slice(0, at) + put + now.slice(at + cut), base);
        const loaded = load(text, environment);
        if (loaded.ok) {
          rightCount += 1;
          expect(valid(printConfiguration(loaded.configuration, loaded.sources), environment).configuration).toEqual(
            loaded.configuration,
          );
        } else {
          wrongCount += 1;
          expect(loaded.complaints.length).toBeGreaterThan(0);
          for (const complaint of loaded.complaints) {
            expect(complaint.path).not.toBe("");
            expect(complaint.expected).not.toBe("");
            expect(complaintLine(complaint).length).toBeLessThan(1_000);
          }
        }
      }),
      { seed, numRuns: inputCount(300, 80) },
    );
    expect(rightCount).toBeGreaterThan(inputCount(300, 80) / 15);
    expect(wrongCount).toBeGreaterThan(inputCount(300, 80) / 15);
  });

  it("with any plain data in place of any key, too", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (anything) => {
        const text = JSON.stringify({
          http: anything,
          funds: [anything],
          reports: { schedule: anything },
          services: anything,
        });
        load(text);
        load(text, { PORTCULLIS_HTTP_PORT: "x", PORTCULLIS_SERVICES: "oms" });
      }),
      { seed: 7, numRuns: inputCount(100, 30) },
    );
  });
});
