import { Group, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import classes from './page.module.css';

/** The head of a page: title, what it is about, and its actions. Also the title of the browser's tab. */
export function Page({
  title,
  marks,
  about,
  actions,
  children,
}: {
  title: string;
  marks?: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Firsthand`;
  }, [title]);
  return (
    <>
      <div className={classes.head}>
        <div>
          <Group gap="xs">
            <Title order={1}>{title}</Title>
            {marks}
          </Group>
          {about !== undefined && <div className={classes.about}>{about}</div>}
        </div>
        {actions && <Group gap="xs">{actions}</Group>}
      </div>
      {children}
    </>
  );
}
