import type { Suggestion } from '../../components/suggest.tsx';
import { Tag } from '../../components/tag.tsx';
import { type Completion, matching } from './completions.ts';

const MOST = 10;
/** Several paths stand with commas between them: the first that has a value is used. The last one is completed. */
export function suggestPaths(completions: ReadonlyMap<string, Completion>, typed: string): Suggestion[] {
  const comma = typed.lastIndexOf(',') + 1;
  const before = comma === 0 ? '' : `${typed.slice(0, comma)} `;
  return matching(completions, typed.slice(comma).trim(), MOST).map(({ path, note, seen }) => ({
    value: before + path,
    content: (
      <>
        <span className="mono">{path}</span>{' '}
        {seen !== undefined && <Tag tone="ok">{`seen in ${seen} ${seen === 1 ? 'event' : 'events'}`}</Tag>}
        <div className="dim">{note}</div>
      </>
    ),
  }));
}
