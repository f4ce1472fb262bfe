/* ringfold gen: its output folder. */
#ifndef RF_TOOLS_GEN_FOLDER_H
#define RF_TOOLS_GEN_FOLDER_H

/*
 * Creates the folder if it does not exist. In a folder that an earlier run has filled, removes that
 * run's files and keeps all others. Rejects a folder that contains only other files. Returns 0, or
 * -1 with a message on stderr.
 */
int gen_folder_ready(const char *dir);

#endif
