/** The end of a table: how many rows are shown of how many, and the next page. */
import { Button, Group } from '@mantine/core';
import { number } from '../format.ts';

export function MoreButton({
  shown,
  total,
  query,
}: {
  shown: number;
  total: number;
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; isFetchNextPageError: boolean; fetchNextPage: () => unknown };
}) {
  if (!query.hasNextPage) return null;
  return (
    <Group justify="center" my="sm" gap="sm">
      <span className="dim" role="status">
        {number(shown)} of {number(total)}
      </span>
      <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {query.isFetchNextPageError ? 'Try again' : 'Show more'}
      </Button>
    </Group>
  );
}
