// How old what a decision is made from may be, in milliseconds.

/** How old an input may be before new risk is denied because of it, in milliseconds. */
export interface InputAges {
  readonly mark: number;
  readonly nav: number;
  readonly fx: number;
  readonly borrow: number;
}

export const inputAgesDefault: InputAges = { mark: 10_000, nav: 60_000, fx: 3_600_000, borrow: 86_400_000 };
