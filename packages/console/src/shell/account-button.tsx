import { lazy, Suspense, useState } from 'react';
import { AccountLabel } from './account-label.tsx';

const load = () => import('./account-menu.tsx');
const AccountMenu = lazy(async () => ({ default: (await load()).AccountMenu }));

/** The menu itself is loaded when it is first opened, or just before. */
export function AccountButton() {
  const [wanted, setWanted] = useState(false);
  // Where it cannot be loaded ahead, it is loaded when it is opened.
  const ahead = () => void load().catch(() => undefined);
  const closed = (
    <AccountLabel aria-haspopup="menu" aria-expanded={false} onPointerEnter={ahead} onFocus={ahead} onClick={() => setWanted(true)} />
  );
  if (!wanted) return closed;
  return (
    <Suspense fallback={closed}>
      <AccountMenu />
    </Suspense>
  );
}
