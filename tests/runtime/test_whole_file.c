/* SPDX-License-Identifier: MIT
 * Files are written whole or not at all, and nothing is left beside them when that fails. */
#include "check.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "halo-test-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    memcpy(folder, "halo-test-XXXXXX", sizeof folder);
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/out.bin", folder);
    return 0;
}

static int count_files(void)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    int n = 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void expect_content(const char *content)
{
    halo_message error;
    size_t n_bytes;
    char *bytes = halo_read_file(path, &n_bytes, &error);
    assert_non_null(bytes);
    assert_int_equal(n_bytes, strlen(content));
    assert_string_equal(bytes, content);
    halo_free(bytes);
}

static void test_replaces(void **state)
{
    (void)state;
    halo_message error;
    assert_int_equal(halo_write_file(path, "one", 3, &error), HALO_OK);
    expect_content("one");
    assert_int_equal(halo_write_file(path, "second", 6, &error), HALO_OK);
    expect_content("second");
    assert_int_equal(count_files(), 1);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(about.st_mode & 0777, 0666 & ~mask);
}

/* The disk is full in the middle of the file: the old one stays, the half-written one goes. */
static void test_failure_keeps_the_old(void **state)
{
    (void)state;
    halo_message error = {""};
    assert_int_equal(halo_write_file(path, "old", 3, &error), HALO_OK);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    char large[5000] = {0};
    int code = halo_write_file(path, large, sizeof large, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_not_equal(code, HALO_OK);
    assert_non_null(strstr(error.text, path));
    expect_content("old");
    assert_int_equal(count_files(), 1);
}

static void test_no_folder(void **state)
{
    (void)state;
    halo_message error = {""};
    char nowhere[80];
    snprintf(nowhere, sizeof nowhere, "%s/no/out.bin", folder);
    assert_int_not_equal(halo_write_file(nowhere, "x", 1, &error), HALO_OK);
    assert_non_null(strstr(error.text, nowhere));
    assert_int_not_equal(halo_write_file(folder, "x", 1, &error), HALO_OK);      /* a folder is no file */
    assert_int_equal(count_files(), 0);
    size_t n;
    assert_null(halo_read_file(folder, &n, &error));
    assert_null(halo_read_file(nowhere, &n, &error));
    assert_non_null(strstr(error.text, nowhere));
}

/* A link stays a link, and what it names is replaced. */
static void test_link(void **state)
{
    (void)state;
    halo_message error;
    char link[80];
    snprintf(link, sizeof link, "%s/link", folder);
    assert_int_equal(halo_write_file(path, "old", 3, &error), HALO_OK);
    assert_int_equal(symlink("out.bin", link), 0);
    assert_int_equal(halo_write_file(link, "new", 3, &error), HALO_OK);
    struct stat about;
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    expect_content("new");
    unlink(link);
}

static void test_device(void **state)
{
    (void)state;
    halo_message error;
    assert_int_equal(halo_write_file("/dev/null", "x", 1, &error), HALO_OK);
    struct stat about;
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_replaces, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_failure_keeps_the_old, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_no_folder, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_link, make_folder, remove_folder), cmocka_unit_test(test_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
