// What `npm test` costs everybody who waits for it: a file that takes long says beside its figures (testkit/test-times.json) why it is worth that.
export interface TestCost {
  readonly wall_s: number;
  readonly processor_s?: number;
  readonly platforms?: number;
  readonly reason?: string;
}

const processorSecondsMax = 12;
const platformsMax = 8;

/** A file without figures was not measured yet, which is no complaint; only who waits for `npm test` is spoken for. */
export function costComplaints(costs: Readonly<Record<string, TestCost>>, files: readonly string[]): readonly string[] {
  const known = new Set(files);
  const waitedFor = Object.entries(costs).filter(([file]) => !/\.(ci|long)\.test\.ts$/.test(file));
  const each = waitedFor.flatMap(([file, { processor_s = 0, reason }]) => {
    if (!known.has(file)) return [`${file} is gone, but testkit/test-times.json has it: npm test -- --keep-times`];
    if (processor_s <= processorSecondsMax || (reason !== undefined && reason.length > 0)) return [];
    const cost = `${file} takes ${processor_s} processor seconds, more than ${processorSecondsMax}`;
    return [`${cost}: make it cheaper, move it to *.ci.test.ts, or give its reason in testkit/test-times.json`];
  });
  const platforms = waitedFor.reduce((sum, [, cost]) => sum + (cost.platforms ?? 0), 0);
  if (platforms <= platformsMax) return each;
  return [...each, `${platforms} platforms are started, more than ${platformsMax}: take sharedPlatform()`];
}
