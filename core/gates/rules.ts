// By which rules the gates decide. Raise it with every change of what a gate decides from the same view: what was recorded under another number is not
// decided again by replays, because it would come out differently for no reason of the limits'. core/engine/recorded-decisions.test.ts says when.
export const gateRules = 2;
