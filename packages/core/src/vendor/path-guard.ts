/**
 * A URL may hold values of the event. An id that is missing would turn `DELETE /people/{{event.user_id}}` into `DELETE /people/`, and one
 * that is `..` into `DELETE /`: the client takes dot segments out of a path, encoded ones too. Neither is what anybody wrote.
 */
import { itemText, type Sources, type Text } from './text.ts';

const DOTS = /^(?:\.|%2e){1,2}$/i;

/** Why this item cannot have its URL, or undefined. Absent where no item has a say in the path. */
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
