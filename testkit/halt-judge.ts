// The one judge of "no approval under a halt" for the simulator, the models, the rounds of crashes and the bench: whether a halt covers an order, and
// whether it was in force at an epoch. Written apart from the product's own, which it judges.

export interface JudgedHalt {
  readonly severity: string;
  readonly fund_id: string;
  readonly strategy_id?: string | undefined;
}

export interface JudgedOrder {
  readonly fund_id: string;
  readonly strategy_id: string;
}

export function covers(halt: JudgedHalt, order: JudgedOrder): boolean {
  if (halt.severity === "FIRM_HALT") return true;
  if (halt.severity === "FUND_HALT") return halt.fund_id === order.fund_id;
  return halt.strategy_id === order.strategy_id;
}

export interface JudgedTime {
  readonly epoch: number;
  /** Absent while it is in force. */
  readonly lift?: { readonly epoch: number } | undefined;
}

/** Epochs are compared, never clocks: latched by then, and not yet lifted. */
export function isInForceAt({ epoch: latched, lift }: JudgedTime, epoch: number): boolean {
  return latched <= epoch && (lift === undefined || epoch < lift.epoch);
}

/** The first of the halts under which an order was decided that carries this epoch. */
export function haltOver<Halt extends JudgedHalt & JudgedTime>(
  halts: readonly Halt[],
  order: JudgedOrder,
  epoch: number,
): Halt | undefined {
  return halts.find((halt) => isInForceAt(halt, epoch) && covers(halt, order));
}
