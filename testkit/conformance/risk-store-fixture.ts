// What the suite of the risk engine's store asks of the store that is put under it, and the shape of one check.
import type { Instant } from "../../contracts/src/instant.ts";
import { storedHashBytes } from "../../core/engine/fast/order-hash.ts";
import type { JournalBatch, JournalEntry, RiskStore } from "../../ports/risk-store.ts";
import type { Outcome, Store } from "../../ports/store.ts";
import type { Patience } from "./waiting.ts";

/** An empty world with one engine's store, and the units of work that change limits and halts. Every check opens its own and closes it. */
export interface RiskStoreFixture extends Patience {
  readonly risk: RiskStore;
  readonly store: Store;
  /** A second engine's store on the same data. */
  another(): Promise<RiskStore>;
  /** Loses the answer to the next append, which in truth has this outcome. */
  loseNextAnswer(outcome: Outcome): Promise<void>;
  now(): Instant;
  uuid(): string;
  close(): Promise<void>;
}

export interface RiskStoreCheck {
  /** The number in ports/risk-store.ts; 0 for what the interface's own comments say. */
  readonly promise: number;
  readonly sentence: string;
  run(fixture: RiskStoreFixture): Promise<void>;
}

/** As many bytes as the engine stores of a hash, the same for the same number. */
export function hash(n: number): Uint8Array {
  const bytes = new Uint8Array(storedHashBytes);
  new DataView(bytes.buffer).setUint32(0, n);
  return bytes;
}

/** The bytes of a decision are the engine's business; these are easy to recognise, and no decision to whoever would unpack them. */
export function decision(fixture: RiskStoreFixture, n: number, more: Partial<JournalEntry> = {}): JournalEntry {
  return {
    kind: "decision",
    at: fixture.now(),
    fundId: "alpha",
    orderId: `order-${n}`,
    keyHash: hash(n),
    bodyHash: hash(n + 1_000_000),
    decisionId: fixture.uuid(),
    approved: true,
    code: "",
    payload: new TextEncoder().encode(`decision ${n}`),
    ...more,
  };
}

export function fill(fixture: RiskStoreFixture, fillId: string): JournalEntry {
  const payload = new TextEncoder().encode(JSON.stringify({ fill_id: fillId }));
  return { kind: "fill", at: fixture.now(), fundId: "alpha", orderId: "order-1", fillId, payload };
}

export function batch(fixture: RiskStoreFixture, writerEpoch: number, entries: readonly JournalEntry[]): JournalBatch {
  return { id: fixture.uuid(), writerEpoch, entries };
}

/** The payloads of the whole journal as text, read in pages. */
export async function payloads(risk: RiskStore, page = 100): Promise<readonly string[]> {
  const found: string[] = [];
  let after = 0n;
  for (;;) {
    const rows = await risk.entries(after, page);
    found.push(...rows.map((row) => new TextDecoder().decode(row.payload)));
    const last = rows[rows.length - 1];
    if (last === undefined) return found;
    after = last.id;
  }
}
