// A generated id may be typed as far as it is unique, eight characters or more, as lists show it on a terminal. What is no beginning of anything goes to the server
// as it was typed, which then says that it is not there.
import { exitCodes } from "../../contracts/src/codes/shape.ts";
import type { Client } from "../client/src/types.ts";
import { isApiError, Refusal } from "./failure.ts";

const lengthMin = 8;

export async function wholeOrderId(client: Client, typed: string): Promise<string> {
  return typed.length < lengthMin ? typed : onlyOne(typed, await orderIds(client, typed));
}

/** Of an approval that nobody has sent: whose order it is, order management may not know. */
export async function wholeApprovalId(client: Client, typed: string): Promise<string> {
  if (typed.length < lengthMin) return typed;
  const read = async () => (await client.listApprovals({ unsent: true })).map(({ order_id }) => order_id);
  return onlyOne(typed, await orNone(read));
}

export async function wholeSignalId(client: Client, typed: string): Promise<string> {
  if (typed.length < lengthMin) return typed;
  const read = async () =>
    (await client.listWebhookSignals({ idPrefix: typed, countMax: 10 })).map(({ signal_id }) => signal_id);
  return onlyOne(typed, await orNone(read));
}

/** Of whatever has a generated id: an order, a trade, a halt, in force or lifted, a request to lift halts. */
export async function wholeRecordId(client: Client, typed: string): Promise<string> {
  if (typed.length < lengthMin) return typed;
  const found = await Promise.all([orderIds(client, typed), haltIds(client, typed), fillIds(client, typed)]);
  return onlyOne(typed, [...new Set(found.flat())]);
}

function orderIds(client: Client, typed: string): Promise<readonly string[]> {
  return orNone(async () => {
    const orders = await client.listOrders({ idPrefix: typed, countMax: 10 });
    return orders.map(({ order }) => order.order_id);
  });
}

/** Those in force are known to a server that has no history of halts yet. */
async function haltIds(client: Client, typed: string): Promise<readonly string[]> {
  const past = orNone(async () => {
    const halts = await client.listHaltHistory({ idPrefix: typed, countMax: 10 });
    return halts.map(({ halt_id }) => halt_id);
  });
  const now = orNone(async () => {
    const { halts, request_id: requestId } = await client.getHaltStatus({});
    return [...halts.map(({ halt_id }) => halt_id ?? ""), requestId ?? ""];
  });
  return (await Promise.all([past, now])).flat();
}

function fillIds(client: Client, typed: string): Promise<readonly string[]> {
  return orNone(async () => (await client.listFills({ idPrefix: typed, countMax: 10 })).map(({ fill_id }) => fill_id));
}

/** An older server, or one whose order management is down: the id stands as it was typed. */
async function orNone(read: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await read();
  } catch (thrown) {
    if (isApiError(thrown)) return [];
    throw thrown;
  }
}

export function onlyOne(typed: string, ids: readonly string[]): string {
  const beginning = typed.length < lengthMin ? [] : ids.filter((id) => id.startsWith(typed));
  if (ids.includes(typed) || beginning.length === 0) return typed;
  const [first = typed, ...more] = beginning;
  if (more.length === 0) return first;
  const hint = `It begins ${beginning.slice(0, 5).join(", ")}${beginning.length > 5 ? " and others" : ""}: type more of it.`;
  throw new Refusal(
    exitCodes.usage,
    "INVALID_ARGUMENT",
    `More than one id begins with ${JSON.stringify(typed)}.`,
    hint,
  );
}
