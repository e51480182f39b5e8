// The end of this incarnation, handed in: after a defect the program must not go on, and in the simulator "the program" is
// one incarnation of one service, not the process that simulates it.
export interface Crash {
  /** Says what was wrong and ends this incarnation; it does not return. */
  die(defect: Error): never;
}
