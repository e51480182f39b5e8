// Our books and the outbox in one file, replaced as a whole and synced before anything is sent: what changes the books writes its event in the same step.
import { randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";

export interface Order {
  readonly order_id: string;
  readonly idempotency_key: string;
  readonly symbol: string;
  readonly quantity: string;
  readonly limit_price?: string;
  state: string;
}

export interface OutboxEvent {
  readonly id: string;
  readonly subject: string;
  readonly payload_json: string;
}

interface Kept {
  numbers: Record<string, number>;
  outbox: OutboxEvent[];
  orders: Record<string, Order>;
  /** The fund's cash in cents, and its shares. */
  cash: number;
  held: Record<string, number>;
  /** Up to where events were read and obeyed. */
  after: string;
}

export class Books {
  readonly kept: Kept;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    const fresh: Kept = { numbers: {}, outbox: [], orders: {}, cash: 1_000_000_000, held: {}, after: "" };
    this.kept = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Kept) : fresh;
  }

  /** Changes the books and makes them durable. */
  change(work: () => void): void {
    work();
    const file = openSync(`${this.#path}.new`, "w", 0o600);
    writeSync(file, JSON.stringify(this.kept));
    fsyncSync(file);
    closeSync(file);
    renameSync(`${this.#path}.new`, this.#path);
  }

  /** Puts an event into the outbox under the next number of its kind; only within `change`. */
  publish(kind: "orders" | "fills" | "values", subject: string, payload: object): void {
    const sequence = (this.kept.numbers[kind] ?? 0) + 1;
    this.kept.numbers[kind] = sequence;
    this.kept.outbox.push({ id: randomUUID(), subject, payload_json: JSON.stringify({ ...payload, sequence }) });
  }
}
