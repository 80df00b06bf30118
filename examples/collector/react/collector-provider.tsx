'use client';
import { useEffect } from 'react';

/** Starts the collector on every page. Render it once, in Next in `app/layout.tsx`. */
export function CollectorProvider() {
  useEffect(() => {
    void import('./collector'); // in the browser only
  }, []);
  return null;
}
