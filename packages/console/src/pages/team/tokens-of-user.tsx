/** Which API tokens of a user a change ends, with their number, for the question before it. */
import { useQuery } from '@tanstack/react-query';
import { number } from '../../format.ts';
import { apiTokensQuery } from '../../queries.ts';
import { type Role, reaches } from '../../session/roles.ts';

interface Props {
  userId: string;
  /** Only tokens with more rights than this role. */
  above?: Role;
  /** What happens to one, and to several: `ends with it`, `end with it`. */
  one: string;
  several: string;
}

export function TokensOfUser({ userId, above, one, several }: Props) {
  const { data, isError } = useQuery(apiTokensQuery());
  if (isError) return <>How many API tokens that concerns is not known now.</>;
  if (data === undefined) return <>…</>;
  const concerned = data.filter(
    ({ created_by, role, expires_at }) =>
      created_by === userId &&
      (above === undefined || !reaches(above, role)) &&
      (expires_at === null || Date.parse(expires_at) > Date.now()),
  );
  if (concerned.length === 0) return <>No API token is concerned.</>;
  const names = concerned.map(({ name }) => name).sort();
  const rest = names.length - MOST_NAMES;
  return (
    <>
      {number(concerned.length)} API {concerned.length === 1 ? `token ${one}` : `tokens ${several}`}:{' '}
      {names.slice(0, MOST_NAMES).join(', ')}
      {rest > 0 && ` and ${number(rest)} more`}.
    </>
  );
}
const MOST_NAMES = 5;
