/**
 * The members of a batch as a short text. Positions are 16 digits on both engines and mostly follow each other, so runs of equal steps
 * are written once: `e41 1x9998` is ten thousand minus one events from position 41 on.
 */
const DIGITS = 16;
const ZERO = 48;

/** A key is `e` (the pipeline's events) or `r` (replays) and a position. */
export function packMembers(keys: readonly string[]): string {
  const tokens: string[] = [];
  let topic = '';
  let last = 0;
  let step = Number.NaN;
  let times = 0;
  const flush = () => {
    if (times > 0) tokens.push(times === 1 ? String(step) : `${step}x${times}`);
    times = 0;
  };
  for (const key of keys) {
    const position = positionIn(key);
    if (position < 0) return JSON.stringify(keys);
    if (!key.startsWith(topic) || topic === '') {
      flush();
      topic = key.charAt(0);
      tokens.push(topic + position);
    } else if (position - last === step && times > 0) times++;
    else {
      flush();
      step = position - last;
      times = 1;
    }
    last = position;
  }
  flush();
  return tokens.join(' ');
}

/** -1 for a key of another form. */
function positionIn(key: string): number {
  if (key.length !== DIGITS + 1 || !(key.startsWith('e') || key.startsWith('r'))) return -1;
  let position = 0;
  for (let at = 1; at <= DIGITS; at++) {
    const digit = key.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    position = position * 10 + digit;
  }
  return position;
}

export function unpackMembers(packed: string): string[] {
  if (packed.startsWith('[')) return JSON.parse(packed) as string[];
  const keys: string[] = [];
  let topic = '';
  let last = 0;
  const add = () => keys.push(topic + String(last).padStart(DIGITS, '0'));
  for (const token of packed.split(' ')) {
    if (token.startsWith('e') || token.startsWith('r')) {
      topic = token.charAt(0);
      last = Number(token.slice(1));
      add();
      continue;
    }
    const [step = '0', times = '1'] = token.split('x');
    for (let i = 0; i < Number(times); i++) {
      last += Number(step);
      add();
    }
  }
  return keys;
}
