// What a test file started and made, counted where it happens. Files share a process, so each begins by taking what stands here away.
export interface Counts {
  platforms: number;
  databases: number;
}

const counts: Counts = { platforms: 0, databases: 0 };

export function countPlatform(): void {
  counts.platforms += 1;
}

export function countDatabase(): void {
  counts.databases += 1;
}

/** The counts since the last call. */
export function takeCounts(): Counts {
  const taken = { ...counts };
  counts.platforms = 0;
  counts.databases = 0;
  return taken;
}
