// The orders of the bench and what must become of each: most are approved, some are denied by a gate that the order itself decides, so
// that the oracle needs to know nothing of the engine's state. Bodies are encoded once; only the digits of their number change.
import { Order } from "../../contracts/src/generated/svc/v1/order.ts";

export const fundCount = 10;
export const positionsPerFund = 100;

/** What the oracle expects: the code of the denial, or empty for an approval. */
export interface OrderKind {
  readonly code: string;
  readonly template: Uint8Array;
  /** Where the digits of the key and of the order id begin. */
  readonly keyAt: number;
  readonly orderIdAt: number;
}

const digits = 12;
const keyMark = `k${"7".repeat(digits)}`;
const orderIdMark = `o${"7".repeat(digits)}`;

export function symbolOf(index: number): string {
  return `S${String(index).padStart(3, "0")}`;
}

export function fundOf(index: number): string {
  return `fund-${index}`;
}

export function kind(code: string, fund: number, symbol: number, change: Partial<Order>): OrderKind {
  const order: Order = {
    ...Order.decode(new Uint8Array()),
    idempotency_key: keyMark,
    order_id: orderIdMark,
    fund_id: fundOf(fund),
    strategy_id: `${fundOf(fund)}-a`,
    symbol: symbolOf(symbol),
    side: "BUY",
    quantity: "1",
    order_type: "LIMIT",
    limit_price: "100.01",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "bench",
    ...change,
  };
  const template = Order.encode(order).finish();
  const text = Buffer.from(template).toString("latin1");
  return { code, template, keyAt: text.indexOf(keyMark) + 1, orderIdAt: text.indexOf(orderIdMark) + 1 };
}

/** One in ten is denied; the rest spread over the funds and symbols, buying and reducing. */
export const orderKinds: readonly OrderKind[] = [
  ...Array.from({ length: 9 }, (_, index) =>
    kind("", index % fundCount, (index * 37) % positionsPerFund, index % 3 === 2 ? { side: "SELL" } : {}),
  ),
  kind("BROKER_NOT_ALLOWED", 9, 50, { broker: "nobody" }),
];

/** A gRPC frame with the order's bytes and its number in place. */
export function orderFrame({ template, keyAt, orderIdAt }: OrderKind, number: number): Buffer {
  const frame = Buffer.allocUnsafe(5 + template.length);
  frame[0] = 0;
  frame.writeUInt32BE(template.length, 1);
  frame.set(template, 5);
  stampNumber(frame, 5 + keyAt, number);
  stampNumber(frame, 5 + orderIdAt, number);
  return frame;
}

export function stampNumber(bytes: Uint8Array, at: number, number: number): void {
  let rest = number;
  for (let index = at + digits - 1; index >= at; index -= 1) {
    bytes[index] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

/** The order's id as its answer must repeat it. */
export function orderIdOf(number: number): string {
  return `o${String(number).padStart(digits, "0")}`;
}

/** Whether an answer (a RiskDecision's bytes) says what it must, looked at without decoding the whole: the generator must stay quick. */
export function isRight(answer: Buffer, expected: OrderKind, number: number): boolean {
  if (!answer.includes(orderIdOf(number), 0, "latin1")) return false;
  const approved = answer[0] === 0x08 && answer[1] === 0x01;
  return expected.code === "" ? approved : !approved && answer.includes(expected.code, 0, "latin1");
}
