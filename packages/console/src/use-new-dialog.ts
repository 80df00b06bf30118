import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Role } from './session/roles.ts';
import { useMay } from './session/use-session.ts';

/**
 * The page's dialog for something new. The address holds whether it is open, so the search and a shared link lead into it; it opens only for
 * users whose role may create. A role that is lowered meanwhile does not close it: what was typed stays.
 */
export function useNewDialog(role: Role): [opened: boolean, set: { open: () => void; close: () => void }] {
  const navigate = useNavigate();
  const may = useMay(role);
  const [allowed, setAllowed] = useState(may);
  if (may && !allowed) setAllowed(true);
  const { new: value } = useSearch({ strict: false }) as { new?: string };
  // Back closes the dialog; closing it adds nothing to go back to.
  const set = (next: string | undefined) => () =>
    void navigate({ to: '.', search: (old: Record<string, unknown>) => ({ ...old, new: next }), replace: next === undefined } as never);
  return [value !== undefined && allowed, { open: set('yes'), close: set(undefined) }];
}
