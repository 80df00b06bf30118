/**
 * Protects URLs that contain values of the event. A missing id would turn `DELETE /people/{{event.user_id}}` into `DELETE /people/`, and
 * the id `..` into `DELETE /`, because HTTP clients resolve dot segments, also encoded ones.
 */
import { itemText, type Sources, type Text } from './text.ts';

const DOTS = /^(?:\.|%2e){1,2}$/i;

/** Why the item's URL is unusable, or undefined. Absent if the path does not depend on items. */
export function pathGuard(url: Text): ((sources: Sources) => string | undefined) | undefined {
  if (!url.per_item) return undefined;
  const written = segments(url.parts.map((part) => (typeof part === 'string' ? part : 'x')).join(''));
  const dots = written.filter(isDots).length;
  return (sources) => {
    const found = segments(itemText(url, sources, 'x'));
    if (found.filter(isDots).length > dots) return 'url_unsafe: a value of the event would lead to another path';
    const emptied = found.length === written.length && found.some((segment, i) => segment === '' && written[i] !== '');
    return emptied ? 'url_incomplete: the event has no value for a part of the path' : undefined;
  };
}

function isDots(segment: string): boolean {
  return DOTS.test(segment);
}
function segments(url: string): string[] {
  return url
    .replace(/^https?:\/\/[^/?#]*/i, '')
    .replace(/[?#].*$/s, '')
    .split('/');
}
