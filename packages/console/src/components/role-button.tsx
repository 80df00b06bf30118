import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import { type ComponentPropsWithoutRef, useId, useState } from 'react';
import type { Role } from '../session/roles.ts';
import { useMay } from '../session/use-session.ts';
import classes from './role-button.module.css';

const textOf = (needs: Role): string => `Needs the role ${needs}`;

/** A button for what needs a role. Without the role it does nothing, but the mouse, the keyboard and a tap reach it and see the role. */
export function RoleButton({
  needs,
  disabled,
  loading,
  onClick,
  children,
  ...props
}: { needs: Role } & ButtonProps & Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps>) {
  const may = useMay(needs);
  const [open, setOpen] = useState(false);
  const id = useId();
  if (may)
    return (
      <Button {...props} disabled={disabled ?? false} loading={loading ?? false} onClick={onClick}>
        {children}
      </Button>
    );
  return (
    <>
      <Tooltip label={textOf(needs)} opened={open}>
        <Button
          {...props}
          data-disabled
          aria-disabled
          aria-describedby={id}
          onMouseEnter={() => setOpen(true)}
          onMouseLeave={() => setOpen(false)}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onClick={(event) => {
            // A submit button would send its form.
            event.preventDefault();
            setOpen(true);
          }}
        >
          {children}
          {/* A finger cannot hover: there the role stands in the button. */}
          <span className={classes.role} aria-hidden>
            {'\u00a0'}· needs {needs}
          </span>
        </Button>
      </Tooltip>
      <span id={id} hidden>
        {textOf(needs)}
      </span>
    </>
  );
}

/** Beside controls that have no button: `Changes need the role editor.` Nothing for somebody who has the role. */
export function RoleNote({ needs }: { needs: Role }) {
  return useMay(needs) ? null : <p className="dim">Changes need the role {needs}.</p>;
}
