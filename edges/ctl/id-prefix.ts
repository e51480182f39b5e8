// A generated id may be typed as far as it is unique, eight characters or more, as lists show it on a terminal. What is no beginning of anything goes to the server
// as it was typed, which then says that it is not there.
import { exitCodes } from "../../contracts/src/codes/shape.ts";
import type { Client } from "../client/src/types.ts";
import { isApiError, Refusal } from "./failure.ts";

const lengthMin = 8;

export async function wholeOrderId(client: Client, typed: string): Promise<string> {
  if (typed.length < lengthMin) return typed;
  const found = await client.listOrders({ idPrefix: typed, countMax: 10 }).catch((thrown: unknown) => {
    // An older server, or one whose order management is down: the id stands as it was typed.
    if (isApiError(thrown)) return [];
    throw thrown;
  });
  return onlyOne(
    typed,
    found.map(({ order }) => order.order_id),
  );
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
