/** Why a delivery failed: the vendor's status and its message; the whole answer on request. */
import { useState } from 'react';
import { readReason } from './read-reason.ts';
import classes from './reason.module.css';
import { Tag } from './tag.tsx';

export function Reason({ text, long = false }: { text: string; long?: boolean }) {
  const [open, setOpen] = useState(false);
  const { code, message, answer } = readReason(text);
  return (
    <span className={classes.reason}>
      {code !== undefined && <Tag tone="bad">{code}</Tag>} <span className={long ? undefined : classes.short}>{message}</span>
      {long && answer !== undefined && (
        <>
          {' '}
          <button type="button" className={classes.more} onClick={() => setOpen(!open)} aria-expanded={open}>
            {open ? 'Hide the answer' : 'Whole answer'}
          </button>
          {open && <code className={classes.answer}>{answer}</code>}
        </>
      )}
    </span>
  );
}
