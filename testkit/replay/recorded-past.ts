// A week of a fund's past in a running platform's database, as much of it as a test or a benchmark wants: orders that the platform really decided, sent and
// filled are its patterns, and the database multiplies their rows by itself, each with ids and times of its own. So whatever reads the journal and the audit
// log reads what it reads every day.
//
//  1. Rows of the past are numbered below everything that happens from now on, and stand in a stretch of the log that nobody writes: nobody who follows
//     what happens is handed any of it.
//  2. Every repetition buys and sells the same, so that the books are flat at the end of each, and books that were kept once an hour say so.
import type pg from "pg";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { createEngine } from "../../core/engine/engine.ts";
import { eventually } from "../platform.ts";
import { exampleOrder } from "../record-examples.ts";
import type { RiskClient } from "../risk/client.ts";
import { engineOptions } from "../risk/engine-fixture.ts";
import type { Prng } from "../virtual/prng.ts";
import { momentText } from "./past-oracle.ts";

export interface PastWanted {
  /** At least this many entries of the journal, and about as many of the log. */
  readonly entries: number;
  /** Denials alone, or orders with what became of them. */
  readonly of: "denials" | "orders";
  readonly days: number;
}

export interface RecordedPast {
  readonly fundId: string;
  readonly from: string;
  readonly to: string;
  readonly journalEntries: number;
  readonly logEntries: number;
  readonly decisions: number;
}

const fundId = "alpha";
/** What happens from now on is numbered from here. */
const numbersFrom = 8_000_000;
const firstNumber = 1_000_000;
/** A stretch of the log that nobody writes. */
const firstSequence = 7 * 2 ** 40;
const repetitionsTogether = 20_000;
const hourUs = 3_600_000_000;
/** Between the newest of the past and now. */
const beforeNowUs = 2 * hourUs;
const numberDigits = 8;
const [bought, sold, denied] = ["a", "b", "c"] as const;
const places = [bought, sold, denied];
const markOf = (place: string): string => `past-${place}-${"9".repeat(numberDigits)}`;
const keyOf = (place: string): string => `pkey-${place}-${"9".repeat(numberDigits)}`;
const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const momentPattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/g;

export async function recordPast(
  owner: pg.Pool,
  client: RiskClient,
  wanted: PastWanted,
  progress: (line: string) => void = () => undefined,
): Promise<RecordedPast> {
  await owner.query("select setval(pg_get_serial_sequence('portcullis.outbox', 'id'), $1)", [numbersFrom]);
  progress("trading the orders that the past is made of");
  await tradePatterns(owner, client);
  await eventually(
    "everybody has passed the numbers of the past",
    async () => {
      const found = await owner.query(
        "select coalesce(min(cursor_id), 0)::bigint > $1 as passed from portcullis.subscription",
        [numbersFrom],
      );
      return found.rows[0]?.passed === true;
    },
    180_000,
  );
  const patterns = await readPatterns(owner, wanted.of);
  const { journal, log } = patterns;
  const repetitions = Math.ceil(wanted.entries / journal.length);
  progress(`${repetitions * journal.length} entries of the journal and ${repetitions * log.length} of the log to come`);
  const connection = await owner.connect();
  try {
    return await multiply(connection, patterns, { ...wanted, repetitions }, progress);
  } finally {
    connection.release();
  }
}

/** Bought and filled, sold and filled, and one that is denied. */
async function tradePatterns(owner: pg.Pool, client: RiskClient): Promise<void> {
  const order = (place: string, differs: Partial<Order>): Order => {
    const { limit_price: _, notional: __, ...rest } = exampleOrder;
    const names = { order_id: markOf(place), idempotency_key: keyOf(place) };
    return { ...rest, ...names, order_type: "MARKET", quantity: "10", tif: "GTC", ...differs } as Order;
  };
  const filled = (place: string): Promise<void> =>
    eventually(`${markOf(place)} is filled and in the log`, async () => {
      const found = await owner.query(
        `select (select count(*) from portcullis.audit_entry where subject_id = $1 and action = 'fill.created') as told,
                (select count(*) from portcullis.risk_journal where order_id = $1 and kind = 3) as known`,
        [markOf(place)],
      );
      return Number(found.rows[0]?.told) > 0 && Number(found.rows[0]?.known) > 0;
    });
  await client.submit(order(bought, { side: "BUY" }));
  await filled(bought);
  await client.submit(order(sold, { side: "SELL" }));
  await filled(sold);
  const refused = await client.tryCheck(order(denied, { side: "BUY", quantity: "9000000" }));
  if (refused.answer?.approved !== false) throw new Error(`it was not denied: ${JSON.stringify(refused)}`);
  await eventually("the denial is in the log", async () => {
    const found = await owner.query("select 1 from portcullis.audit_entry where subject_id = $1", [markOf(denied)]);
    return found.rows.length > 0;
  });
}

interface Pattern {
  /** Columns by name; texts and bytes in which ids and moments stand are expressions of the database. */
  readonly columns: Readonly<Record<string, string>>;
  readonly values: readonly (string | Buffer | boolean | null)[];
}

interface Patterns {
  readonly journal: readonly Pattern[];
  readonly log: readonly Pattern[];
  readonly decisions: number;
}

async function readPatterns(owner: pg.Pool, of: PastWanted["of"]): Promise<Patterns> {
  const ids = (of === "denials" ? [denied] : places).map(markOf);
  const journal = await owner.query(
    `select kind, approved, event_id::text as event_id, order_id, code, fill_id, payload from portcullis.risk_journal
     where order_id = any ($1::text[]) and kind in (1, 2, 3) order by id`,
    [ids],
  );
  const log = await owner.query(
    `select event_id, subject_id, action, text from portcullis.audit_entry
     where subject_id = any ($1::text[]) order by sequence`,
    [ids],
  );
  const known = new Map<string, number>();
  for (const { payload, text, event_id } of [...journal.rows, ...log.rows]) {
    for (const [one] of `${event_id} ${(payload ?? text).toString("latin1")}`.matchAll(uuidPattern)) {
      if (!known.has(one)) known.set(one, known.size + 1);
    }
  }
  const fills = new Map<string, number>();
  for (const { fill_id: id } of journal.rows) if (id !== null && !known.has(id)) fills.set(id, fills.size);
  return {
    journal: journal.rows.map((row) => journalPattern(row, known, fills)),
    log: log.rows.map((row) => logPattern(row, known, fills)),
    decisions: journal.rows.filter(({ kind }) => kind === 1).length,
  };
}

type Row = Readonly<Record<string, never>>;
type Known = ReadonlyMap<string, number>;
type Fills = ReadonlyMap<string, number>;

function journalPattern(row: Row, known: Known, fills: Fills): Pattern {
  const making = createMaking(known, fills);
  const { kind, approved, event_id, order_id, code, fill_id, payload } = row as unknown as Record<string, unknown>;
  return making.done({
    kind: String(Number(kind)),
    approved: approved === null ? "null::boolean" : String(approved),
    event_id: event_id === null ? "null::uuid" : `(${making.text(String(event_id))})::uuid`,
    fund_id: `'${fundId}'`,
    order_id: making.text(String(order_id)),
    code: code === null ? "null::text" : making.given(String(code), "text"),
    fill_id: fill_id === null ? "null::text" : making.text(String(fill_id)),
    payload: making.bytes(payload as Buffer),
  });
}

function logPattern(row: Row, known: Known, fills: Fills): Pattern {
  const making = createMaking(known, fills);
  const { event_id, subject_id, action, text } = row as unknown as Record<string, unknown>;
  return making.done({
    event_id: making.text(String(event_id)),
    subject_id: making.text(String(subject_id)),
    action: making.given(String(action), "text"),
    text: making.bytes(text as Buffer),
  });
}

/** The names of a repetition in the words of the database: `n` is its number, `moment` its time as text, `seq` the place in the log. */
const numbered = `lpad(n::text, ${numberDigits}, '0')`;
const uuidOf = (place: number): string =>
  `('0190c5f3-${place.toString(16).padStart(4, "0")}-7000-8000-' || lpad(to_hex(n), 12, '0'))`;

function createMaking(known: Known, fills: Fills) {
  const values: (string | Buffer | boolean | null)[] = [];
  const given = (value: string | Buffer, type: string): string => {
    values.push(value);
    // What is given by the statement itself comes first.
    return `$${values.length + givenFirst}::${type}`;
  };
  const names = [...places.map(markOf), ...places.map(keyOf), ...fills.keys()].map(escaped);
  const pattern = new RegExp(
    [...names, uuidPattern.source, momentPattern.source, '(?<="sequence":)\\d+(?=,"subject_id")'].join("|"),
    "g",
  );
  const wordFor = (found: string): string => {
    const place = known.get(found);
    if (place !== undefined) return uuidOf(place);
    const fill = fills.get(found);
    if (fill !== undefined) return `('past-fill-${fill}-' || ${numbered})`;
    if (/^\d+$/.test(found)) return "seq::text";
    if (/^\d{4}-/.test(found)) return "moment";
    return `('${found.slice(0, -numberDigits)}' || ${numbered})`;
  };
  const parts = (whole: string): readonly { readonly text: string; readonly isName: boolean }[] => {
    const found: { readonly text: string; readonly isName: boolean }[] = [];
    let at = 0;
    for (const match of whole.matchAll(pattern)) {
      if (match.index > at) found.push({ text: whole.slice(at, match.index), isName: false });
      found.push({ text: match[0], isName: true });
      at = match.index + match[0].length;
    }
    if (at < whole.length) found.push({ text: whole.slice(at), isName: false });
    return found;
  };
  return {
    given,
    text: (whole: string): string =>
      parts(whole)
        .map(({ text, isName }) => (isName ? wordFor(text) : given(text, "text")))
        .join(" || "),
    bytes: (whole: Buffer): string =>
      parts(whole.toString("latin1"))
        .map(({ text, isName }) =>
          isName ? `convert_to(${wordFor(text)}, 'UTF8')` : given(Buffer.from(text, "latin1"), "bytea"),
        )
        .join(" || "),
    done: (columns: Readonly<Record<string, string>>): Pattern => ({ columns, values }),
  };
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** First repetition, last one, when the first was, time between two, and the place in a repetition. */
const givenFirst = 5;

async function multiply(
  client: pg.PoolClient,
  { journal, log, decisions }: Patterns,
  { days, repetitions }: PastWanted & { readonly repetitions: number },
  progress: (line: string) => void,
): Promise<RecordedPast> {
  const to = Date.now() * 1_000 - beforeNowUs;
  const everyUs = Math.max(Math.floor((days * 24 * hourUs) / repetitions), 1_000);
  const from = to - repetitions * everyUs;
  await client.query(
    "set search_path = portcullis; set session_replication_role = replica; set synchronous_commit = off",
  );
  for (let first = 1; first <= repetitions; first += repetitionsTogether) {
    const last = Math.min(first + repetitionsTogether - 1, repetitions);
    const span = [first, last, from, everyUs];
    for (const [place, pattern] of journal.entries()) {
      await insert(client, "risk_journal", "id", `${firstNumber} + (n - 1) * ${journal.length} + $5::bigint`, pattern, [
        ...span,
        place,
      ]);
    }
    for (const [place, pattern] of log.entries()) {
      await insert(client, "audit_entry", "sequence", "seq", pattern, [...span, place], log.length);
    }
    progress(`${last} of ${repetitions} repetitions`);
  }
  await keepBooksOf(client, from, everyUs, repetitions, journal.length);
  await datedBack(client, from, to);
  await client.query("reset session_replication_role; reset synchronous_commit");
  await client.query("analyze risk_journal; analyze audit_entry; analyze treasury_nav");
  return {
    fundId,
    from: momentText(from),
    // Behind the last one, which a period without its end leaves out.
    to: momentText(to + 1_000),
    journalEntries: repetitions * journal.length,
    logEntries: repetitions * log.length,
    decisions: repetitions * decisions,
  };
}

async function insert(
  client: pg.PoolClient,
  table: "risk_journal" | "audit_entry",
  idColumn: string,
  id: string,
  { columns, values }: Pattern,
  span: readonly number[],
  logLength = 1,
): Promise<void> {
  const isLog = table === "audit_entry";
  const names = Object.keys(columns).join(", ");
  const moment = `to_char(to_timestamp(at_us / 1000000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  await client.query({
    text: `insert into ${table} (${idColumn}, at_us, ${names}${isLog ? ", outbox_id" : ""})
      select ${id}, at_us, ${Object.values(columns).join(", ")}${isLog ? ", -seq" : ""}
      from (select n, at_us, ${moment} as moment, ${firstSequence} + (n - 1) * ${logLength} + $5::bigint as seq
            from (select n, $3::bigint + n * $4::bigint as at_us from generate_series($1::bigint, $2::bigint) n) timed) named`,
    values: [...span, ...values],
  });
}

/** Of the end of the last repetition of each hour: nothing is held, and nothing is open. */
async function keepBooksOf(
  client: pg.PoolClient,
  from: number,
  everyUs: number,
  repetitions: number,
  length: number,
): Promise<void> {
  const flat = Buffer.from(JSON.stringify(createEngine(engineOptions).snapshot()));
  await client.query({
    text: `insert into kept_books (through, at_us, engine, costs)
      select ${firstNumber} + n * $3::bigint - 1, $4::bigint + n * $5::bigint, $6::bytea, '[]'
      from generate_series($1::bigint, $2::bigint, greatest($7::bigint, 1)) n on conflict do nothing`,
    values: [1, repetitions, length, from, everyUs, flat, Math.floor(hourUs / everyUs)],
  });
}

/** Limits, reference data and values of a time in which the platform did not run yet. */
async function datedBack(client: pg.PoolClient, from: number, to: number): Promise<void> {
  const long = from - hourUs;
  await client.query("update reference_version set set_us = least(set_us, $1)", [long]);
  await client.query("update risk_envelope set set_us = least(set_us, $1)", [long]);
  const minuteUs = 60_000_000;
  await client.query(
    `insert into treasury_nav (fund_id, every, bucket_us, at_us, nav, cash, positions_value, net_flows, currency, oldest_price_age_ms, prices)
     select fund_id, 'minute', at, at, nav, cash, positions_value, net_flows, currency, oldest_price_age_ms, prices
     from (select distinct on (fund_id) * from treasury_nav where every = 'second' order by fund_id, bucket_us desc) newest,
          generate_series($1::bigint, $2::bigint, ${minuteUs}) at
     on conflict do nothing`,
    [Math.floor(from / minuteUs) * minuteUs, to],
  );
}

/** A moment of it, to the millisecond. */
export function momentIn({ from, to }: Pick<RecordedPast, "from" | "to">, rolls: Prng): string {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  return momentText((first + Math.floor(((last - first) * rolls.word()) / 2 ** 32)) * 1_000);
}
