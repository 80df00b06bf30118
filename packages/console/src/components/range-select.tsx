import { Portal, Select } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { DEFAULT_RANGE, fixedLabel, RANGES, type RangeKey, readRange } from '../time-range.ts';

/** The page's time range; it stands in the address bar. */
export function useRange(): RangeKey {
  const search = useSearch({ strict: false }) as { range?: string };
  return readRange(search.range);
}

/** The place in the top bar, beside the search. A telephone has no room there: the choice stands among the page's actions. */
export const RANGE_PLACE = 'time-range';
const ALL = 'all';

/** `all`: what the page shows without a range, for a list, which need not have one. A list may also have a fixed time. */
export function RangeSelect({ all }: { all?: string }) {
  const { range: chosen } = useSearch({ strict: false }) as { range?: string };
  const navigate = useNavigate();
  const isWide = useMediaQuery('(min-width: 48em)', true, { getInitialValueInEffect: false });
  const unset = all === undefined ? DEFAULT_RANGE : ALL;
  const fixed = all === undefined || chosen === undefined ? undefined : fixedLabel(chosen);
  const isKnown = fixed !== undefined || (chosen !== undefined && Object.hasOwn(RANGES, chosen));
  const select = (
    <Select
      size="xs"
      w={fixed === undefined ? 140 : 190}
      aria-label="Time range"
      allowDeselect={false}
      value={isKnown ? (chosen ?? unset) : unset}
      data={[
        ...(all === undefined ? [] : [{ value: ALL, label: all }]),
        ...(fixed === undefined || chosen === undefined ? [] : [{ value: chosen, label: fixed }]),
        ...Object.entries(RANGES).map(([value, { label }]) => ({ value, label })),
      ]}
      onChange={(next) =>
        void navigate({
          to: '.',
          search: (old: Record<string, unknown>) => ({ ...old, range: next === unset || next === null ? undefined : next }),
        } as never)
      }
    />
  );
  return isWide ? <Portal target={`#${RANGE_PLACE}`}>{select}</Portal> : select;
}
