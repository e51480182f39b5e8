// The sixtieth step on databases of before: who values a fund by then is named once, as reference data would be set.
import { createHash } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { type FundReference, referenceChanged } from "../../contracts/src/records/reference.ts";
import { canonicalText } from "../../contracts/src/text/canonical-text.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { openClient } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations/index.ts";

const step = migrations.findIndex(({ name }) => name === "valuers");
const opened: TestDatabase[] = [];

afterEach(async () => {
  for (const made of opened.splice(0)) await made.drop();
});

const hourUs = 3_600_000_000;
const nowUs = 1_800_000_000_000_000;

const fund = (fund_id: string, mode: "PAPER" | "LIVE", more: Partial<FundReference> = {}): FundReference => ({
  strategies: [`${fund_id}-one`, `${fund_id}-two`],
  fund_id,
  name: `Fünd "${fund_id}" \\ fund`,
  mode,
  currency: "USD",
  calendar: "always-open",
  ...more,
});

interface Heard {
  readonly fundId: string;
  readonly source: string;
  readonly at: number;
  readonly by: "outbox" | "numbers";
}

/** What the funds are afterwards, with the event that says so. */
async function upgraded(funds: readonly FundReference[], heard: readonly Heard[], unnumbered: readonly string[] = []) {
  const made = await testDatabase(migrations.slice(0, step));
  opened.push(made);
  const client = await openClient(made.address.owner, { log: quietLog, applicationName: "test" });
  try {
    const text = JSON.stringify(funds);
    await client.query("insert into reference_head values ('funds', 3)");
    const version = "insert into reference_version values ('funds', 3, $1, 'operator:duty', 1, 'r', 'h')";
    await client.query(version, [text]);
    for (const { fundId, source, at, by } of heard) {
      const published = `insert into outbox (event_id, at_us, subject, key, source, payload)
        values (gen_random_uuid(), $3, 'svc.v1.treasury.nav.updated', $1, $2, '{}')`;
      const numbered =
        "insert into foreign_position (fund_id, source, kind, last, at_us) values ($1, $2, 'values', 1, $3)";
      await client.query(by === "outbox" ? published : numbered, [fundId, source, at]);
    }
    for (const fundId of unnumbered) {
      await client.query("insert into foreign_unnumbered values ('foreign-treasury', 1) on conflict do nothing");
      await client.query("insert into risk_nav values ($1, $2, '{}')", [fundId, nowUs]);
    }
    await migrate(made.address.owner, migrations, quietLog);
    await migrate(made.address.owner, migrations, quietLog);
    const versions = await client.query(
      "select content, set_by, reason, hash, version::int from reference_version order by version",
    );
    const head = await client.query("select version::int from reference_head");
    const events = await client.query(
      "select convert_from(payload, 'UTF8') as text, source, key from outbox where subject = 'svc.v1.treasury.reference.changed'",
    );
    return { versions: versions.rows, head: head.rows[0]?.version as number, events: events.rows };
  } finally {
    await client.end();
  }
}

describe("an upgrade", () => {
  it("names the foreign source that was heard last, once, with the hash and the event that setting it would have", async () => {
    const funds = [
      fund("live", "LIVE"),
      fund("numbered", "LIVE"),
      fund("silent", "LIVE"),
      fund("said", "LIVE", { valued_by: "desk" }),
      fund("ours", "PAPER"),
      fund("theirs", "PAPER", { strategies: [] }),
      fund("unnumbered", "LIVE"),
    ];
    const heard: readonly Heard[] = [
      { fundId: "live", source: "old-desk", at: nowUs - 2, by: "numbers" },
      { fundId: "live", source: "desk", at: nowUs - 1, by: "outbox" },
      { fundId: "numbered", source: "foreign-treasury", at: nowUs, by: "numbers" },
      { fundId: "said", source: "stranger", at: nowUs, by: "outbox" },
      { fundId: "ours", source: "treasury", at: nowUs - hourUs + 1, by: "outbox" },
      { fundId: "ours", source: "stranger", at: nowUs, by: "outbox" },
      { fundId: "theirs", source: "operations+treasury", at: nowUs - hourUs - 1, by: "outbox" },
      { fundId: "theirs", source: "desk", at: nowUs, by: "outbox" },
    ];
    const { versions, head, events } = await upgraded(funds, heard, ["unnumbered"]);
    const named = { live: "desk", numbered: "foreign-treasury", theirs: "desk", unnumbered: "foreign-treasury" };
    const expected = funds.map((one) => {
      const source = named[one.fund_id as keyof typeof named];
      return source === undefined ? one : { ...one, valued_by: source };
    });
    const [, newest, ...more] = versions;
    expect(more).toEqual([]);
    expect(newest).toMatchObject({ content: expected, version: 4, set_by: "service:upgrade" });
    expect(newest.hash).toBe(createHash("sha256").update(canonicalText(expected)).digest("hex"));
    expect(head).toBe(4);
    expect(events).toMatchObject([{ source: "operations", key: "funds" }]);
    const { set_at: _at, ...said } = referenceChanged.parse(parseJson(events[0]?.text));
    expect(said).toEqual({
      kind: "funds",
      version: 4,
      set_by: newest.set_by,
      reason: newest.reason,
      hash: newest.hash,
    });
  });

  it("changes nothing where nobody outside was heard, or there are no funds", async () => {
    const { versions, events } = await upgraded([fund("ours", "PAPER"), fund("silent", "LIVE")], []);
    expect([versions.length, events.length]).toEqual([1, 0]);
  });
});
