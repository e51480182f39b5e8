// Work that takes longer than others on the same loop should wait: written as a generator that yields wherever they may have their turn. Whoever has others to
// think of takes it in slices; here it is done at once.
export function atOnce<Made>(work: Generator<void, Made>): Made {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}
