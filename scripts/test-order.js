// In which order test files begin: the longest first, so that the short ones fill the gaps and none of the long is left for the end. Files that start
// whole platforms wait more than they compute, but several at once take so long on two cores that they are given up: others stand between them. Files that
// share one platform come before all of these, one after the other: it costs processor for as long as it stands. While the first of them starts it, two long
// files have the other workers.

const betweenPlatforms = 3;
const besideStart = 2;

/**
 * @param {readonly string[]} names
 * @param {Readonly<Record<string, { wall_s: number, platforms?: number }>>} times A file that nobody measured yet may be long, so it begins early.
 * @param {(name: string) => boolean} [sharesPlatform]
 * @returns {string[]}
 */
export function orderOf(names, times, sharesPlatform = () => false) {
  const [first, ...further] = names.filter(sharesPlatform);
  const rest = orderOfRest(
    names.filter((name) => !sharesPlatform(name)),
    times,
  );
  return first === undefined ? rest : [first, ...rest.splice(0, besideStart), ...further, ...rest];
}

/** @param {readonly string[]} names @param {Parameters<typeof orderOf>[1]} times @returns {string[]} */
function orderOfRest(names, times) {
  const wallOf = (/** @type {string} */ name) => times[name]?.wall_s ?? Number.POSITIVE_INFINITY;
  const longestFirst = [...names].sort((one, other) => {
    const [a, b] = [wallOf(other), wallOf(one)];
    return a === b ? 0 : a - b;
  });
  const startsPlatform = (/** @type {string} */ name) => (times[name]?.platforms ?? 0) > 0;
  const platforms = longestFirst.filter(startsPlatform);
  const others = longestFirst.filter((name) => !startsPlatform(name));
  const order = [];
  while (platforms.length > 0) order.push(...platforms.splice(0, 1), ...others.splice(0, betweenPlatforms));
  return [...order, ...others];
}
