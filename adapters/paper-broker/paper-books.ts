// Where the paper broker keeps its books: orders, positions and reports. It plays a system outside of ours, so its books are its own and
// outlive whoever talks to it.
//
// What every form of them promises (testkit/conformance/broker.ts through the broker):
//  1. `change` loads, decides and writes as one transaction, and one at a time: nobody else's change comes between.
//  2. When it resolves, what was decided is durable; reports are numbered without gaps, and never seen in another order.
import type { Instant } from "../../contracts/src/instant.ts";
import type { BookView, Decided, PaperReport } from "../../core/paper/paper-broker.ts";
import type { PaperOrder } from "../../core/paper/paper-matching.ts";
import type { PaperPosition } from "../../core/paper/paper-positions.ts";

/** What a decision has to see. */
export interface BookSelection {
  readonly orderId?: string;
  /** Whether a corporate action is in the books. */
  readonly actionId?: string;
  /** Their open orders, positions and prints. */
  readonly symbols?: readonly string[];
  /** Orders whose end has come by then. */
  readonly endedBy?: Instant;
  /** Mostly nothing is changed: it may be decided by what the books were a moment ago that they stay, and only else is it decided again, alone. */
  readonly mayChangeNothing?: true;
}

/** What an account has, of one moment. */
export interface AccountView {
  readonly cursor: number;
  readonly begun: boolean;
  readonly open: readonly PaperOrder[];
  readonly positions: readonly PaperPosition[];
  /** While it has not passed, positions are shown as they were when it was set. */
  readonly lag: { readonly until: Instant; readonly positions: readonly PaperPosition[] } | undefined;
}

export interface PaperBooks {
  change<Answer>(selection: BookSelection, decide: (view: BookView) => Decided<Answer>): Promise<Answer>;
  order(clientOrderId: string): Promise<PaperOrder | undefined>;
  account(account: string): Promise<AccountView>;
  reports(after: number, countMax: number): Promise<readonly PaperReport[]>;
  /** The number of the newest report. */
  cursor(): Promise<number>;
  /** Symbols with open orders, and whether the end of one has come. */
  waiting(at: Instant): Promise<{ readonly symbols: readonly string[]; readonly someEnded: boolean }>;
  setLag(account: string, until: Instant): Promise<void>;
}
