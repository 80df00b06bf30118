import { Portal, Select } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { DEFAULT_RANGE, RANGES, type RangeKey, readRange } from '../time-range.ts';

/** The page's time range; it stands in the address bar. */
export function useRange(): RangeKey {
  const search = useSearch({ strict: false }) as { range?: string };
  return readRange(search.range);
}

/** The place in the top bar, beside the search. A telephone has no room there: the choice stands among the page's actions. */
export const RANGE_PLACE = 'time-range';
const ALL = 'all';

/** `all`: what the page shows without a range, for a page that need not have one. */
export function RangeSelect({ all }: { all?: string }) {
  const { range: chosen } = useSearch({ strict: false }) as { range?: string };
  const navigate = useNavigate();
  const isWide = useMediaQuery('(min-width: 48em)', true, { getInitialValueInEffect: false });
  const unset = all === undefined ? DEFAULT_RANGE : ALL;
  const select = (
    <Select
      size="xs"
      w={140}
      aria-label="Time range"
      allowDeselect={false}
      value={chosen !== undefined && Object.hasOwn(RANGES, chosen) ? chosen : unset}
      data={[
        ...(all === undefined ? [] : [{ value: ALL, label: all }]),
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
