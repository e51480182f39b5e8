// Who asked for orders, in the order in which they asked: of each asker the first time.
import type { AskedOrder } from "../../ports/risk-store.ts";

export function firstOfEachAsker(asked: readonly AskedOrder[]): readonly AskedOrder[] {
  return asked.filter((one, index) => {
    const isSame = ({ orderId, askedBy }: AskedOrder): boolean => orderId === one.orderId && askedBy === one.askedBy;
    return asked.findIndex(isSame) === index;
  });
}
