/**
 * Estimates how many steps a regular expression compiles to, without compiling it. Linear in the length of the pattern. Rejecting by
 * estimate takes microseconds; compiling could take a second.
 */
const MAX_ESTIMATE = 1_000_000_000;
/** Unicode classes are tables. Case folding makes one as expensive as a hundred ordinary steps. */
const UNICODE_CLASS = 3;
const FOLDED_UNICODE_CLASS = 100;
const REPETITION = /\{(\d{1,6})(,(\d{0,6}))?\}/y;
const FLAGS = /\?([a-zA-Z]*)(?:-[a-zA-Z]*)?[:)]|\?P?<[^>]*>/y;

interface Group {
  steps: number;
  /** Size of the last item, which a repetition multiplies. */
  last: number;
}

export function estimatePatternSteps(pattern: string, anyCase: boolean): number {
  const unicodeClass = anyCase || /\(\?[a-zA-Z]*i/.test(pattern) ? FOLDED_UNICODE_CLASS : UNICODE_CLASS;
  const stack: Group[] = [];
  let group: Group = { steps: 0, last: 0 };
  const add = (steps: number) => {
    group.steps = Math.min(MAX_ESTIMATE, group.steps + steps);
    group.last = steps;
  };
  for (let at = 0; at < pattern.length; at++) {
    switch (pattern[at]) {
      case '\\':
        add(pattern[at + 1] === 'p' || pattern[at + 1] === 'P' ? unicodeClass : 1);
        at = afterEscape(pattern, at);
        break;
      case '[': {
        const end = endOfClass(pattern, at);
        add(1 + countUnicode(pattern, at, end) * unicodeClass);
        at = end;
        break;
      }
      case '(':
        stack.push(group);
        group = { steps: 0, last: 0 };
        FLAGS.lastIndex = at + 1;
        if (FLAGS.test(pattern)) at = pattern[FLAGS.lastIndex - 1] === ')' ? FLAGS.lastIndex - 2 : FLAGS.lastIndex - 1;
        break;
      case ')': {
        const { steps } = group;
        group = stack.pop() ?? { steps: 0, last: 0 };
        add(steps + 2);
        break;
      }
      case '{': {
        REPETITION.lastIndex = at;
        const repetition = REPETITION.exec(pattern);
        if (repetition === null) add(1);
        else {
          repeat(group, Number(repetition[1]), repetition[2] === undefined ? undefined : repetition[3]);
          at = REPETITION.lastIndex - 1;
        }
        break;
      }
      case '*':
      case '+':
      case '?':
      case '|':
        group.steps += 1;
        group.last += 1;
        break;
      default:
        add(1);
    }
  }
  for (const outer of stack) group.steps = Math.min(MAX_ESTIMATE, group.steps + outer.steps);
  return group.steps;
}

function repeat(group: Group, least: number, most: string | undefined): void {
  const times = most === undefined ? least : most === '' ? least + 1 : Number(most);
  const optional = most === undefined || most === '' ? 0 : Math.max(0, Number(most) - least);
  const steps = group.last * Math.max(1, times) + optional;
  group.steps = Math.min(MAX_ESTIMATE, group.steps - group.last + steps);
  group.last = Math.min(MAX_ESTIMATE, steps);
}

function afterEscape(pattern: string, at: number): number {
  if (pattern[at + 2] !== '{') return at + 1;
  const end = /[pPx]/.test(pattern[at + 1] ?? '') ? pattern.indexOf('}', at) : -1;
  return end < 0 ? at + 1 : end;
}

function endOfClass(pattern: string, from: number): number {
  let at = from + 1;
  if (pattern[at] === '^') at += 1;
  if (pattern[at] === ']') at += 1;
  for (; at < pattern.length; at++) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern.startsWith('[:', at)) at = Math.max(at, pattern.indexOf(':]', at) + 1);
    else if (pattern[at] === ']') return at;
  }
  return pattern.length;
}

function countUnicode(pattern: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) {
    if (pattern[at] !== '\\') continue;
    at += 1;
    if (pattern[at] === 'p' || pattern[at] === 'P') count += 1;
  }
  return count;
}
