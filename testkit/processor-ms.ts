// What a computation costs the processor. Other than a clock it does not count the time in which somebody else has the machine, so that a bound on it is about
// the computation.
export function processorMs(compute: () => void): number {
  const began = process.cpuUsage();
  compute();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}
