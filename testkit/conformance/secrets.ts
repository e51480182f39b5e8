// The suite that every secrets store passes: one list of checks, each a promise of ports/secrets.ts or of the common rules
// for paths and values.
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { type Facts, Fault } from "../../contracts/src/fault.ts";
import type { Secrets } from "../../ports/secrets.ts";

/** An empty place for secrets with the prefix `portcullis`. Every check opens its own and closes it. */
export interface SecretsFixture {
  /** One more opening of the same place, as another process would have it. */
  open(): Promise<Secrets>;
  /** Closes whatever is open and removes what the fixture made. */
  close(): Promise<void>;
}

export interface SecretsCheck {
  readonly sentence: string;
  run(fixture: SecretsFixture): Promise<void>;
}

const path = "secret/portcullis/tradingview/alpha";
const valueBytesMax = 64 * 1024;

/** The fault that the work must end in. */
export async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const thrown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(thrown, "a fault was expected").toBeInstanceOf(Fault);
  return thrown as Fault;
}

/** Everything that a careless log line could print of a thrown object. */
export function printed(thrown: unknown): string {
  const facts: Facts = thrown instanceof Fault ? thrown.facts : {};
  const stack = thrown instanceof Error ? thrown.stack : "";
  return [inspect(thrown, { depth: 12, showHidden: true }), String(thrown), stack, JSON.stringify(facts)].join("\n");
}

const versionChecks: readonly SecretsCheck[] = [
  {
    sentence: "a path that was never written is undefined, and its neighbours do not matter",
    async run(fixture) {
      const secrets = await fixture.open();
      expect(await secrets.get(path)).toBeUndefined();
      await secrets.put(`${path}/below`, "value");
      await secrets.put(`${path}x`, "value");
      expect(await secrets.get(path)).toBeUndefined();
    },
  },
  {
    sentence: "versions count from 1 for each path, and get gives the newest",
    async run(fixture) {
      const secrets = await fixture.open();
      expect(await secrets.put(path, "one")).toEqual({ path, version: 1, value: "one" });
      expect(await secrets.put(path, "two")).toEqual({ path, version: 2, value: "two" });
      expect(await secrets.get(path)).toEqual({ path, version: 2, value: "two" });
      expect((await secrets.put("secret/portcullis/other", "first")).version).toBe(1);
    },
  },
  {
    sentence: "a put with the expected version succeeds once; a stale one is SECRETS_CONFLICT and changes nothing",
    async run(fixture) {
      const secrets = await fixture.open();
      expect((await secrets.put(path, "one", { expectedVersion: 0 })).version).toBe(1);
      expect((await secrets.put(path, "two", { expectedVersion: 1 })).version).toBe(2);
      for (const expectedVersion of [0, 1, 3, -1, 1.5, Number.NaN]) {
        const fault = await faultOf(secrets.put(path, "lost-value", { expectedVersion }));
        expect([fault.code, fault.retry]).toEqual(["SECRETS_CONFLICT", "now"]);
        expect(printed(fault)).not.toContain("lost-value");
      }
      expect(await secrets.get(path)).toEqual({ path, version: 2, value: "two" });
    },
  },
  {
    sentence: "of many puts that expect the same version, exactly one wins",
    async run(fixture) {
      const openings = await Promise.all([fixture.open(), fixture.open(), fixture.open()]);
      const puts = openings.flatMap((secrets, i) =>
        [0, 1, 2].map((j) => secrets.put(path, `writer ${i}.${j}`, { expectedVersion: 0 })),
      );
      const settled = await Promise.allSettled(puts);
      const winners = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      expect(winners).toHaveLength(1);
      expect(await openings[0]?.get(path)).toEqual(winners[0]);
    },
  },
];

const rotationChecks: readonly SecretsCheck[] = [
  {
    sentence: "rotate makes the next value of the current one, also of none",
    async run(fixture) {
      const secrets = await fixture.open();
      const next = (current: { version: number; value: string } | undefined) => `${current?.value ?? ""}x`;
      expect(await secrets.rotate(path, next)).toEqual({ path, version: 1, value: "x" });
      expect(await secrets.rotate(path, next)).toEqual({ path, version: 2, value: "xx" });
    },
  },
  {
    sentence: "concurrent rotations through several openings lose nothing",
    async run(fixture) {
      const openings = await Promise.all([fixture.open(), fixture.open(), fixture.open()]);
      const rounds = 8;
      const rotations = openings.flatMap((secrets) =>
        Array.from({ length: rounds }, () => secrets.rotate(path, (now) => String(Number(now?.value ?? "0") + 1))),
      );
      const versions = (await Promise.all(rotations)).map((secret) => secret.version);
      const total = openings.length * rounds;
      expect(versions.sort((a, b) => a - b)).toEqual(Array.from({ length: total }, (_unused, index) => index + 1));
      expect(await openings[0]?.get(path)).toEqual({ path, version: total, value: String(total) });
    },
  },
  {
    sentence: "a rotation whose function throws, or makes a bad value, changes nothing and blocks nobody",
    async run(fixture) {
      const secrets = await fixture.open();
      await secrets.put(path, "old");
      const thrown = new Error("no new value today");
      await expect(
        secrets.rotate(path, () => {
          throw thrown;
        }),
      ).rejects.toBe(thrown);
      expect((await faultOf(secrets.rotate(path, () => ""))).code).toBe("INVALID_ARGUMENT");
      expect(await secrets.get(path)).toEqual({ path, version: 1, value: "old" });
      expect((await secrets.put(path, "new")).version).toBe(2);
    },
  },
];

const badPaths: readonly string[] = [
  "",
  "/",
  "secret",
  "secret/",
  "secret/portcullis",
  "secret/portcullis/",
  "secret/other/a",
  "secret/portcullisx/a",
  "other/portcullis/a",
  "/secret/portcullis/a",
  "secret/portcullis/a/",
  "secret/portcullis//a",
  "secret/portcullis/../other/a",
  "secret/portcullis/a/..",
  "secret/portcullis/./a",
  "secret/portcullis/a.",
  "secret/portcullis/%2e%2e/a",
  "secret/portcullis/a b",
  "secret/portcullis/a\n",
  "secret/portcullis/a?version=1",
  "secret/portcullis/a#b",
  "secret/portcullis/a\\b",
  "secret/portcullis/ä",
  "secret/portcullis/a\u0000",
  `secret/portcullis/${"a".repeat(129)}`,
  `secret/portcullis/${"a/".repeat(20)}a`,
  `secret/portcullis/${Array.from({ length: 5 }, () => "a".repeat(120)).join("/")}`,
];

const ruleChecks: readonly SecretsCheck[] = [
  {
    sentence: "a bad path is SECRETS_BAD_PATH for every verb, and is not repeated in the complaint",
    async run(fixture) {
      const secrets = await fixture.open();
      for (const bad of badPaths) {
        const attempts = [secrets.get(bad), secrets.put(bad, "value"), secrets.rotate(bad, () => "value")];
        for (const fault of await Promise.all(attempts.map(faultOf))) {
          expect([bad, fault.code, fault.retry]).toEqual([bad, "SECRETS_BAD_PATH", "never"]);
        }
      }
      const mixedUp = await faultOf(secrets.put("hunter2-the-value", path));
      expect(printed(mixedUp)).not.toContain("hunter2-the-value");
      for (const bad of ["", "secret", "secret/other", "secret/portcullis/..", "secret/portcullis//"]) {
        expect((await faultOf(secrets.list(bad))).code).toBe("SECRETS_BAD_PATH");
      }
    },
  },
  {
    sentence: "every allowed character of a path is kept apart",
    async run(fixture) {
      const secrets = await fixture.open();
      const paths = ["A", "a", "0", "a.b", "a-b", "a_b", ".a", "__proto__", "constructor", "a".repeat(128)];
      for (const name of paths) await secrets.put(`secret/portcullis/${name}`, `value of ${name}`);
      for (const name of paths) {
        expect((await secrets.get(`secret/portcullis/${name}`))?.value).toBe(`value of ${name}`);
      }
    },
  },
  {
    sentence: "values come back exactly: line ends, quotes, controls, emoji, combining marks, 64 KiB",
    async run(fixture) {
      const secrets = await fixture.open();
      const values = [
        "line one\nline two\r\n\ttabbed\n",
        " leading and trailing ",
        `"quoted" and \\ and \u0000 and \u001b[31m and \u2028`,
        "e\u0301 is not \u00e9",
        "鍵 🔑 ключ",
        "\uFEFFstarts with a byte order mark",
        "0",
        "null",
        "x".repeat(valueBytesMax),
        "🔑".repeat(valueBytesMax / 4),
        "\u0001".repeat(valueBytesMax),
      ];
      for (const value of values) {
        await secrets.put(path, value);
        expect((await secrets.get(path))?.value === value, `${value.length} characters came back`).toBe(true);
      }
    },
  },
  {
    sentence: "an empty value, one beyond 64 KiB and one that is not Unicode are refused without being repeated",
    async run(fixture) {
      const secrets = await fixture.open();
      const bad = [
        "",
        "s3cret".padEnd(valueBytesMax + 1, "y"),
        `s3cret${"🔑".repeat(valueBytesMax / 4)}`,
        "s3cret\ud800",
      ];
      for (const value of bad) {
        const fault = await faultOf(secrets.put(path, value));
        expect([fault.code, fault.retry]).toEqual(["INVALID_ARGUMENT", "never"]);
        expect(printed(fault)).not.toContain("s3cret");
      }
      expect(await secrets.get(path)).toBeUndefined();
    },
  },
];

const placeChecks: readonly SecretsCheck[] = [
  {
    sentence: "list gives the paths below a folder at any depth, sorted, and no values",
    async run(fixture) {
      const secrets = await fixture.open();
      const root = "secret/portcullis";
      expect(await secrets.list(root)).toEqual([]);
      const names = [
        "watchdogs/beta/vol",
        "watchdogs/alpha/theta",
        "watchdogs/alpha",
        "watchdogs2/x",
        "tradingview/b",
        "Z",
      ];
      for (const name of names) await secrets.put(`${root}/${name}`, "the-value-itself");
      const below = ["watchdogs/alpha", "watchdogs/alpha/theta", "watchdogs/beta/vol"].map((name) => `${root}/${name}`);
      expect(await secrets.list(`${root}/watchdogs`)).toEqual(below);
      expect(await secrets.list(`${root}/watchdogs/`)).toEqual(below);
      expect(await secrets.list(`${root}/watchdogs/alpha`)).toEqual([`${root}/watchdogs/alpha/theta`]);
      expect(await secrets.list(`${root}/nothing/here`)).toEqual([]);
      const all = await secrets.list(root);
      expect(all).toEqual(names.map((name) => `${root}/${name}`).sort());
      expect(JSON.stringify(all)).not.toContain("the-value-itself");
    },
  },
  {
    sentence: "what one opening writes another sees at once, and it survives closing and opening",
    async run(fixture) {
      const [first, second] = [await fixture.open(), await fixture.open()];
      for (let round = 1; round <= 5; round += 1) {
        await first.put(path, `round ${round}`);
        expect(await second.get(path)).toEqual({ path, version: round, value: `round ${round}` });
      }
      await second.put(path, "the second's");
      await first.close();
      await second.close();
      const third = await fixture.open();
      expect(await third.get(path)).toEqual({ path, version: 6, value: "the second's" });
      expect(await third.list("secret/portcullis")).toEqual([path]);
    },
  },
  {
    sentence: "a closed store refuses every verb, and closing twice is fine",
    async run(fixture) {
      const secrets = await fixture.open();
      await secrets.put(path, "value");
      await secrets.close();
      await secrets.close();
      const attempts = [
        secrets.get(path),
        secrets.put(path, "after-close"),
        secrets.list("secret/portcullis"),
        secrets.rotate(path, () => "after-close"),
      ];
      for (const fault of await Promise.all(attempts.map(faultOf))) {
        expect([fault.code, fault.retry, fault.facts["reason"]]).toEqual(["SECRETS_UNAVAILABLE", "never", "closed"]);
        expect(printed(fault)).not.toContain("after-close");
      }
    },
  },
  {
    sentence: "printing the store itself shows no value",
    async run(fixture) {
      const secrets = await fixture.open();
      await secrets.put(path, "hunter2-in-memory");
      await secrets.get(path);
      expect(inspect(secrets, { depth: 12, showHidden: true })).not.toContain("hunter2-in-memory");
      expect(JSON.stringify(secrets)).not.toContain("hunter2-in-memory");
    },
  },
];

export const secretsChecks: readonly SecretsCheck[] = [
  ...versionChecks,
  ...rotationChecks,
  ...ruleChecks,
  ...placeChecks,
];

/** Declares the whole suite for one store. */
export function describeSecrets(name: string, makeFixture: () => Promise<SecretsFixture>): void {
  describe(`${name} keeps the promises of the secrets port`, () => {
    for (const check of secretsChecks) {
      it(check.sentence, async () => {
        const fixture = await makeFixture();
        try {
          await check.run(fixture);
        } finally {
          await fixture.close();
        }
      });
    }
  });
}
