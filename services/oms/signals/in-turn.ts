// One at a time for each fund, accepted or refused: every row takes the fund's next number of receipt, and two that take it at once collide.
import { Fault } from "../../../contracts/src/fault.ts";

/** A fund may send ten a second, and whatever is over it is only recorded; more than this waiting means that the store stands still. */
const waitingPerFundMax = 100;

export type InTurn = <T>(fundId: string, work: () => Promise<T>) => Promise<T>;

export function byFund(): InTurn {
  const funds = new Map<string, { tail: Promise<unknown>; count: number }>();
  return async <T>(fundId: string, work: () => Promise<T>): Promise<T> => {
    const fund = funds.get(fundId) ?? { tail: Promise.resolve(), count: 0 };
    if (fund.count >= waitingPerFundMax) {
      const sentence = `${waitingPerFundMax} alerts of ${fundId} wait to be stored.`;
      throw new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "later" });
    }
    funds.set(fundId, fund);
    fund.count += 1;
    const turn = fund.tail.then(work);
    fund.tail = turn.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await turn;
    } finally {
      fund.count -= 1;
      if (fund.count === 0) funds.delete(fundId);
    }
  };
}
