import { Select } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { DEFAULT_RANGE, RANGES, type RangeKey, readRange } from '../time-range.ts';

/** The page's time range; it stands in the address bar. */
export function useRange(): RangeKey {
  const search = useSearch({ strict: false }) as { range?: string };
  return readRange(search.range);
}
export function RangeSelect() {
  const range = useRange();
  const navigate = useNavigate();
  return (
    <Select
      size="xs"
      w={140}
      aria-label="Time range"
      allowDeselect={false}
      value={range}
      data={Object.entries(RANGES).map(([value, { label }]) => ({ value, label }))}
      onChange={(next) =>
        void navigate({
          to: '.',
          search: (old: Record<string, unknown>) => ({ ...old, range: next === DEFAULT_RANGE || next === null ? undefined : next }),
        } as never)
      }
    />
  );
}
