// Time spent, handed in: microseconds from an arbitrary beginning that never go back. For figures, never for decisions.
export type Stopwatch = () => number;
