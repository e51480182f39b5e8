// The memory platform whose time passes by itself, for tests that start services one by one.
import { type MemoryPlatform, openMemoryPlatform } from "./memory-platform.ts";

export type ServiceFixture = MemoryPlatform;

export function serviceFixture(seed: number): ServiceFixture {
  return openMemoryPlatform({ seed, pumps: true });
}
