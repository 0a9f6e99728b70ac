/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object that is no plugin. */
int tenon_is_not_in_here(void);

int tenon_is_not_in_here(void)
{
    return 0;
}
