import { useNavigate, useSearch } from '@tanstack/react-router';

/** The page's dialog for something new. The address holds whether it is open, so the search and a shared link lead into it. */
export function useNewDialog(): [opened: boolean, set: { open: () => void; close: () => void }] {
  const navigate = useNavigate();
  const { new: value } = useSearch({ strict: false }) as { new?: string };
  const set = (next: string | undefined) => () =>
    void navigate({ to: '.', search: (old: Record<string, unknown>) => ({ ...old, new: next }), replace: true } as never);
  return [value !== undefined, { open: set('yes'), close: set(undefined) }];
}
